"""The options of the program as keywords: their names, how they are written, and their help."""
from __future__ import annotations

import inspect
import keyword
import textwrap
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Callable, Iterator, Optional, Sequence, TypeVar

import numpy as np

from . import _core, _mistakes
from ._errors import UsageError

NO_KEYWORDS = {"help", "help_all", "quiet", "json", "output", "scan", "reconstruction_algorithm", "dry_run", "sweep", "compare", "score"}
"""They have other names in Python, or no sense."""
OF_THE_PROGRAM = {"help", "help_all", "quiet", "json", "sweep", "compare", "score"}


@lru_cache(maxsize=None)
def _table(command: str) -> dict[str, tuple[str, str]]:
    return {name.replace("-", "_"): (form, words) for name, form, words in _core.options_of(command)}


class Options(Mapping[str, str]):
    """The keywords of a function with their help: `options()["tv_weight"]`. It shows itself as a table."""

    def __init__(self, command: str):
        self.command = command
        self._words = {name: words for name, (_, words) in _table(command).items()
                       if name not in NO_KEYWORDS and not keyword.iskeyword(name)}

    def __getitem__(self, name: str) -> str:
        return self._words[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __repr__(self) -> str:
        width = max(map(len, self._words))
        return "\n".join(textwrap.fill(f"{name:{width}}  {words}", 118, subsequent_indent=" " * (width + 2))
                         for name, words in self._words.items())


def options(command: str = "recon") -> Options:
    """All keywords of `reconstruct`, or of `center` or `simulate`, with what each is."""
    if command not in ("recon", "center", "simulate"):
        raise UsageError(f"options: command is {command!r}; give recon, center or simulate")
    return Options(command)


class _Signature(inspect.Signature):
    """A signature with the options of a command, which are looked up when it is asked for."""

    def __init__(self, function: Callable[..., Any], command: str):
        own = inspect.signature(function)
        super().__init__(list(own.parameters.values()), return_annotation=own.return_annotation)
        self.__dict__["command"] = command

    @property
    def parameters(self) -> Any:
        own = dict(super().parameters)
        own.pop("options", None)
        kind = inspect.Parameter.KEYWORD_ONLY
        new = [inspect.Parameter(name, kind, default=None, annotation="Any") for name in Options(self.command)
               if name not in own]
        return {p.name: p for p in [*own.values(), *new]}


Function = TypeVar("Function", bound=Callable[..., Any])


def with_options(command: str) -> Callable[[Function], Function]:
    """Gives a function the signature with all options of a command."""
    def give(function: Function) -> Function:
        given: Any = _mistakes.checked(function, function.__name__)
        given.__signature__ = _Signature(function, command)
        return given
    return give


def _range_of(bounds: Any) -> Optional[str]:
    """``(0, None)`` and ``(0, inf)`` are "0:"; None where no end is bounded."""
    if isinstance(bounds, str):
        return bounds
    if not (hasattr(bounds, "__len__") and len(bounds) == 2):
        raise UsageError(f"bounds: {bounds!r}; give tandem.Bounds(lowest, highest), (lowest, highest) or "
                         "tandem.above_zero")
    if any(getattr(end, "ndim", 0) for end in bounds):
        raise UsageError("bounds: arrays are for solvers; give numbers here, and support=FILE for where the object is")
    ends = ["" if end is None or np.isinf(end) else str(end) for end in bounds]
    return ":".join(ends) if any(ends) else None


def _filter_of(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        return {"fbp_filter": given}
    if not hasattr(given, "window"):
        raise UsageError(f"filter: {given!r}; give the name of a window, such as 'hann', or Filter(...)")
    bins = "" if given.padding_bins is None else f":bins={given.padding_bins}"
    mu = "" if given.attenuation is None else f":attenuation={given.attenuation}"
    return {"fbp_filter": given.window, "fbp_cutoff": given.cutoff, "padding": given.padding + bins + mu}


OF_OPERATORS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "filter": _filter_of,
    "bounds": lambda b: {"bounds": _range_of((b.lowest, b.highest) if isinstance(b, _core.Bounds) else b)},
    "sod_mm": lambda mm: {"sod": mm},
    "sdd_mm": lambda mm: {"sdd": mm}}
"""Words of operators and solvers that functions of the program take, too, and what they are there."""


def _as_the_program_says(given: dict[str, Any]) -> dict[str, Any]:
    known = dict(given)
    for name in OF_OPERATORS.keys() & given.keys():
        value = known.pop(name)
        for word, part in ({} if value is None else OF_OPERATORS[name](value)).items():
            if part is None:
                continue
            if word != name and given.get(word) is not None:
                raise UsageError(f"{name}: {word} is given, too; give one of them")
            known[word] = part
    return known


def words(command: str, given: dict[str, Any]) -> list[str]:
    """Options as the program takes them: ``stop="gcv"``, ``tv_weight=0.1``, ``nonnegative=True``, ``flats=[a, b]``."""
    made = []
    for name, value in _as_the_program_says(given).items():
        if name in OF_THE_PROGRAM and value is not None:
            raise UsageError(f"{name}: is no keyword, but an option of the program alone")
        form, option = _table(command).get(name, ("list", ""))[0], name.replace("_", "-")
        value = bool(value) if isinstance(value, np.bool_) else value
        if value is None or (form.startswith("flag") and value is False):
            continue
        if isinstance(value, slice) and value == slice(None):
            continue
        if form.startswith("flag"):
            if value is not True and not (form == "flag=" and isinstance(value, (str, Mapping))):
                raise UsageError(f"{name}: {value!r}; True or False")
            made.append(f"--{option}" if value is True else f"--{option}={_text(value, form)}")
        else:
            values: Sequence[Any] = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
            made += [f"--{option}={_text(v, form)}" for v in (values if form == "list" else [value])]
        if "\0" in made[-1]:
            raise UsageError(f"{name}: {value!r} has a zero byte, which no option takes")
    return made


def _text(value: Any, form: str) -> str:
    """``(1, 3)`` is 1:3 for an option that takes ranges, and several of them are joined by a comma."""
    if isinstance(value, Mapping):
        return ",".join(f"{key}={one}" for key, one in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        are_ranges = form == ":" and len(value) > 0 and isinstance(value[0], (list, tuple, np.ndarray))
        return ("," if are_ranges else form).join(_text(v, form) for v in value)
    if isinstance(value, (slice, range)):
        ends = f"{value.start or 0}:{'' if value.stop is None else value.stop}"
        return ends if value.step in (None, 1) else f"{ends}:{value.step}"
    if isinstance(value, (float, np.floating)) and value.is_integer() and abs(value) < 1e9:
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)
