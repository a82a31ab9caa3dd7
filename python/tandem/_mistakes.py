"""Arguments are corrected if it is clear what the caller means. For all others, an error of one line says what to
write; the bindings in C++ would list all that they take."""
from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
from typing import Any, Callable, Optional

import numpy as np

from . import _core
from ._errors import Error, UsageError
from ._operator import LinearOperator

SCANS = (_core.ParallelBeam, _core.FanBeam, _core.ConeBeam, _core.FlexibleBeam)
"""All kinds of scans."""


def signature_of(function: Any, name: Optional[str] = None) -> inspect.Signature:
    """The signature of a function of the bindings, from the text that they keep for its first overload."""
    text, _, defaults = function.__nb_signature__[0]
    text = re.sub(r"\btandem\._core\.", "", text)
    inner = text[text.index("(") + 1:text.rindex(") ->")] if ") ->" in text else text[text.index("(") + 1:-1]
    parameters, kind = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in _split(inner):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        elif part.startswith("**"):
            parameters.append(inspect.Parameter(part[2:].partition(":")[0], inspect.Parameter.VAR_KEYWORD))
        elif part != "/":
            word, _, rest = part.partition(":")
            annotation, _, default = rest.partition(" = ")
            known = re.fullmatch(r"\\(\d+)", default.strip())
            value = (inspect.Parameter.empty if not default else
                     defaults[int(known[1])] if known and defaults else default.strip())
            parameters.append(inspect.Parameter(word.strip(), kind, default=value, annotation=annotation.strip()))
    returns = text.rpartition(" -> ")[2] if " -> " in text else inspect.Signature.empty
    return inspect.Signature(parameters, return_annotation=returns)


def _split(text: str) -> list[str]:
    """The parts of a text, cut at commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "[(" and 1 or letter in "])" and -1 or 0
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def shown(value: Any) -> str:
    """A value in a few letters."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = repr(value)
    if type(value).__module__.startswith("tandem") and len(text) < 400:
        return f"a {type(value).__name__}"
    return f"a {type(value).__name__}" if len(text) > 40 or text.startswith("<") else text


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float, np.number)) and float(value).is_integer()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _are(count: int, holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: hasattr(value, "__len__") and len(value) == count and all(holds(v) for v in value)


def _numbers(value: Any) -> np.ndarray:
    """The numbers of a list or a list of lists; none if it has anything else."""
    try:
        found = np.asarray(value)
        return found if found.dtype.kind in "fiub" else np.array(np.nan)
    except (TypeError, ValueError):
        return np.array(np.nan)


def _may_be_array(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _are_numbers(value: Any) -> bool:
    return _numbers(value).ndim == 1


def _of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


Need = tuple[Callable[[Any], bool], str]
"""What an argument has to be, and how it is given."""

# By the name of a parameter.
NEEDED: dict[str, Need] = {
    "bins": (_is_whole, "a whole number of cells"),
    "rows": (lambda v: _is_whole(v) or _are(2, _is_whole)(v), "a whole number of cells, or (first, end)"),
    "views": (lambda v: hasattr(v, "__len__"), "(first, end)"),
    "detector": (_of(_core.Detector), "Detector(bins, rows)"),
    "angles_rad": (_are_numbers, "a list of angles in rad, one for each view"),
    "sod_mm": (_is_number, "a length in mm"),
    "sdd_mm": (_is_number, "a length in mm"),
    "bin_pitch": (_is_number, "a length in mm"),
    "row_pitch": (_is_number, "a length in mm"),
    "axis_bin": (_is_number, "a position in bins"),
    "midplane_row": (_is_number, "a position in rows"),
    "row_axis_bins": (_are_numbers, "a list of positions in bins, one for each row"),
    "view_shift_bins": (_are_numbers, "a list of shifts in bins, one for each view"),
    "size": (_are(3, _is_whole), "(nx, ny, nz), such as (64, 64, 1)"),
    "pitch": (lambda v: _is_number(v) or _are(3, _is_number)(v), "one length in mm, or three of (x, y, z)"),
    "centre": (_are(3, _is_number), "(x, y, z) in mm"),
    "ellipsoids": (lambda v: hasattr(v, "__len__") and all(isinstance(e, _core.Ellipsoid) for e in v),
                   "a list of Ellipsoid"),
    "scan": (_of(*SCANS), "a scan: ParallelBeam, FanBeam, ConeBeam or FlexibleBeam"),
    "grid": (_of(_core.VolumeGrid), "VolumeGrid((nx, ny, nz), pitch)"),
    "volume": (_of(_core.Space), "the space of volumes, A.domain of a projector A"),
    "scales": (_are(3, _is_number), "three factors, for (slice, y, x)"),
    "semi_axes": (_are(3, _is_number), "three lengths in mm"),
    "shape": (_are(3, _is_whole), "three sizes, of (slice, y, x) or (view, row, bin)"),
    "device": (_of(str), "the name of a device, 'cpu' or 'cuda:0'"),
    "blocks": (_of(str), "'whole', 'slices' or 'rows'"),
    "length": (_is_number, "a factor"),
    "vectors": (lambda v: _numbers(v).shape[1:] == (12,), "12 numbers for each view: its source or direction, the middle "
                "of the detector, a step along bins, and one along rows"),
    "noise_norms": (_are_numbers, "a list of norms, one for each block (Space.block_count)"),
    "data_norms": (_are_numbers, "a list of norms, one for each block (Space.block_count)"),
    "count": (_is_whole, "a whole number"),
    "level": (_is_whole, "a whole number"),
    "parallel": (_of(bool), "True or False"),
}
# By its annotation. They are looked at before a call.
BY_TYPE: dict[str, Need] = {
    "LinearOperator": (_of(LinearOperator), "a LinearOperator, such as projector(scan, grid)"),
    "Space": (_of(_core.Space), "a space, A.domain of an operator A or Space(shape)"),
    "Phantom": (_of(_core.Phantom), "a phantom, such as shepp_logan()"),
    "VolumeGrid": NEEDED["grid"],
    "Scan": NEEDED["scan"],
    "PathLike": (_of(str, os.PathLike), "a path"),
    "Callable": (callable, "a function"),
    "OnProgress": (lambda v: v is None or callable(v) or isinstance(v, (bool, np.bool_)),
                   "True, False, or a function of a Stage"),
    "Sequence": (lambda v: hasattr(v, "__iter__") and not isinstance(v, (str, bytes)), "a list"),
}
# The same, where a call has failed: the library converts what can be converted.
NUMBERS: dict[str, Need] = {
    "float": (_is_number, "a number"),
    "int": (_is_whole, "a whole number"),
    "bool": (_of(bool, np.bool_), "True or False"),
    "str": (_of(str), "a text"),
    "Array": (lambda v: v is None or _may_be_array(v), "an array"),
    "np.ndarray": (_may_be_array, "an array"),
    "tuple[int, int]": (_are(2, _is_whole), "(first, end)"),
    "Sequence[float]": (_are_numbers, "a list of numbers"),
    "Union[float, Sequence[float]]": (lambda v: _is_number(v) or _are_numbers(v), "a number, or one for each block"),
    "Union[int, Sequence[int]]": (lambda v: _is_whole(v) or _are_numbers(v), "a whole number, or one for each block"),
}
OTHER_NAMES = {"angles": "angles_rad, in rad: numpy.radians(degrees)", "theta": "angles_rad, in rad", "sod": "sod_mm",
               "sdd": "sdd_mm", "center": "centre", "voxel_size": "pitch", "shape": "size, as (nx, ny, nz)",
               "pitch": "bin_pitch, in mm", "nonnegative": "bounds=tandem.above_zero", "n_bins": "bins",
               "pixel_size": "bin_pitch, in mm", "iterations": "it to run(solver, iterations)"}


_ANYTHING: Need = (lambda _: True, "")


def _kind_of(parameter: inspect.Parameter) -> str:
    """Its annotation, without modules and without None."""
    kind = re.sub(r"\b(_core|typing|collections\.abc)\.|None, | \| None$", "", str(parameter.annotation))
    return re.sub(r"^Optional\[(.*)\]$", r"\1", kind)


def _by_name(parameter: inspect.Parameter) -> Need:
    """That of the bindings, which have few annotations that say what is meant."""
    kind = _kind_of(parameter)
    return NUMBERS[kind] if kind.startswith("tuple") and kind in NUMBERS else \
        NEEDED.get(parameter.name) or _by_number(parameter)


def _by_number(parameter: inspect.Parameter) -> Need:
    return NUMBERS.get(_kind_of(parameter)) or _by_type(parameter)


def _by_type(parameter: inspect.Parameter) -> Need:
    kind = _kind_of(parameter)
    return NEEDED[parameter.name] if kind == "Space" and parameter.name in NEEDED else \
        BY_TYPE.get(kind.partition("[")[0], _ANYTHING)


def in_one_line(name: str, signature: inspect.Signature, arguments: tuple, keywords: dict[str, Any],
                need: Callable[[inspect.Parameter], Need] = _by_name) -> TypeError:
    """What is wrong with a call, and what to write."""
    known = list(signature.parameters)
    takes_any = any(p.kind == inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values())
    for word in keywords:
        if word not in known and not takes_any:
            near, close = (difflib.get_close_matches(word, known, 1, cutoff) for cutoff in (0.8, 0.6))
            hint = near[0] if near else OTHER_NAMES.get(word) or (close[0] if close else ", ".join(known))
            return TypeError(f"{name}: {word} is not known; give {hint}")
    try:
        given = signature.bind(*arguments, **keywords).arguments
    except TypeError as error:
        return TypeError(f"{name}: {error}; it is {name}{_without_types(signature)}")
    if (wrong := _wrong(name, signature, given, need)) is not None:
        return wrong
    values = ", ".join(f"{word} = {shown(value)}" for word, value in given.items())
    return TypeError(f"{name}: {values} do not fit; it is {name}{_without_types(signature)}")


def _wrong(name: str, signature: inspect.Signature, given: dict[str, Any],
           need: Callable[[inspect.Parameter], Need]) -> Optional[TypeError]:
    """The first argument that is not what is needed."""
    for word, value in given.items():
        holds, words = need(signature.parameters[word])
        if not holds(value) and not (value is None and signature.parameters[word].default is None):
            return TypeError(f"{name}: {word} is {shown(value)}; give {words}")
    return None


def _without_types(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _whole(value: Any) -> Any:
    return int(value) if _is_whole(value) else value


def _mend_detector(given: dict[str, Any]) -> None:
    for word in ("bins", "rows"):
        if word in given:
            given[word] = _whole(given[word])


def _mend_grid(given: dict[str, Any]) -> None:
    if hasattr(given.get("size"), "__len__"):
        given["size"] = tuple(map(_whole, given["size"]))
    if _is_number(given.get("pitch")):
        given["pitch"] = (float(given["pitch"]),) * 3


def _mend_phantom(given: dict[str, Any]) -> None:
    if isinstance(given.get("ellipsoids"), _core.Ellipsoid):
        given["ellipsoids"] = [given["ellipsoids"]]


MENDS = {"Detector": _mend_detector, "VolumeGrid": _mend_grid, "Phantom": _mend_phantom,
         "FlexibleBeam": _mend_detector}


def made(name: str, arguments: tuple, keywords: dict[str, Any]) -> Any:
    """An object of a class of the bindings; its constructor asks for it."""
    make = getattr(_core, "make_" + name)
    try:
        return make(*arguments, **keywords)
    except TypeError:
        signature = signature_of(make)
    try:
        given = dict(signature.bind(*arguments, **keywords).arguments)
        MENDS.get(name, lambda _: None)(given)
        return make(**given)
    except TypeError:
        raise in_one_line(name, signature, arguments, keywords) from None


def made_by(value: Any, make: Callable, *arguments: Any, **keywords: Any) -> Any:
    """A stop rule keeps what makes it anew from a file; other values stay as they are."""
    if isinstance(value, _core.StopRule):
        value.made = make, arguments, keywords  # type: ignore[attr-defined]
    return value


def explained(function: Any) -> Any:
    """A function or a method of the bindings, with a signature, and with errors of one line for arguments that do not
    fit."""
    signature = signature_of(function)
    is_method = next(iter(signature.parameters), "") == "self"
    own = _without_first(signature) if is_method else signature

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return made_by(function(*arguments, **keywords), call, *arguments, **keywords)
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
        raise in_one_line(function.__name__, own, arguments[is_method:], keywords)

    functools.update_wrapper(call, function, ("__name__", "__qualname__", "__doc__"))
    call.__module__, call.__signature__ = "tandem", signature  # type: ignore[attr-defined]
    return call


def _without_first(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def checked(function: Callable, name: str, of_class: bool = False) -> Callable:
    """A function in Python, or the constructor or a method of a class, whose arguments are looked at before it is
    called; numbers, if it fails."""
    signature = inspect.signature(function)
    if of_class:
        signature = _without_first(signature)
    needs = {word: _by_type(p) for word, p in signature.parameters.items() if _by_type(p) is not _ANYTHING}
    optional = {word for word, p in signature.parameters.items() if p.default is None}
    places = [p.name for p in signature.parameters.values() if p.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD]

    def look(own: tuple, keywords: dict[str, Any]) -> None:
        for word, value in (*zip(places, own), *keywords.items()):
            if word in needs and not needs[word][0](value) and not (value is None and word in optional):
                raise in_one_line(name, signature, own, keywords, _by_type)

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if needs:
            look(arguments[of_class:], keywords)
        try:
            return function(*arguments, **keywords)
        except Error:
            raise
        except (TypeError, ValueError, AttributeError) as error:
            if not _is_of_call(error):
                given = signature.bind(*arguments[of_class:], **keywords).arguments
                wrong = None if _says(error, signature) else _wrong(name, signature, given, _by_number)
                if wrong is None:
                    raise
                raise wrong from None
        raise in_one_line(name, signature, arguments[of_class:], keywords, _by_number)
    return call


def _says(error: Exception, signature: inspect.Signature) -> bool:
    """Whether an error names an argument."""
    return re.match(rf"(\w+: )?({'|'.join(signature.parameters)})\b", str(error)) is not None


def _is_of_call(error: Exception) -> bool:
    """Whether a function lacks arguments or knows them not, or the package called the bindings with what they do not
    take. Callbacks of users have errors of their own."""
    last = error.__traceback__
    if not isinstance(error, TypeError) or last is None:
        return False
    if last.tb_next is None:
        return True
    while last.tb_next is not None:
        last = last.tb_next
    of_package = last.tb_frame.f_code.co_filename.startswith(os.path.dirname(__file__))
    return of_package and "incompatible function arguments" in str(error)


def explain_all(names: dict[str, Any]) -> None:
    """All functions among these names, and the methods of all classes."""
    for name, value in names.items():
        if name.startswith("_"):
            continue
        if type(value).__name__ == "nb_func":
            names[name] = explained(value)
        elif inspect.isfunction(value) and not hasattr(value, "__wrapped__"):
            names[name] = checked(value, name)
            names[name].__module__ = "tandem"
        elif inspect.isclass(value) and not issubclass(value, Exception):
            _explain_methods(value)


def _explain_methods(kind: type) -> None:
    for name, value in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if type(value).__name__ == "nb_method":
            setattr(kind, name, explained(value))
        elif inspect.isfunction(value) and not hasattr(value, "__wrapped__"):
            setattr(kind, name, checked(value, name, of_class=True))


def require_fields(value: Any) -> None:
    """Raises TypeError unless the fields of a dataclass are of their types."""
    kind = type(value)
    if (wrong := _wrong(kind.__name__, inspect.signature(kind), vars(value), _by_number)) is not None:
        raise wrong


def path_of(name: str, path: Any) -> str:
    """A path as a text. Files have no zero byte in their names, and the system would cut the text there."""
    text = os.fspath(path)
    if "\0" in text:
        raise UsageError(f"{name} is {text!r}, which has a zero byte; give a path")
    return text


def require_scan(name: str, scan: Any, *kinds: type, instead: str = "") -> None:
    """Raises TypeError unless a scan is of one of these kinds."""
    if isinstance(scan, kinds):
        return
    if isinstance(scan, SCANS):
        raise TypeError(f"{name}: the scan is a {type(scan).__name__}; give {instead}")
    words = NEEDED["scan"][1]
    raise TypeError(f"{name}: scan is {shown(scan)}; give {words}")
