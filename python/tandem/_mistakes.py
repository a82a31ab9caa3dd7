"""Arguments are corrected if it is clear what the caller means. For all others, an error of one line says what to
write; the bindings in C++ would list all that they take."""
from __future__ import annotations

import difflib
import functools
import inspect
import re
from typing import Any, Callable, Optional

import numpy as np

from . import _core

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


def _are_numbers(value: Any) -> bool:
    try:
        return np.asarray(value, float).ndim == 1
    except (TypeError, ValueError):
        return False


def _of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


# What a parameter of this name has to be, and how it is given.
NEEDED: dict[str, tuple[Callable[[Any], bool], str]] = {
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
    "length": (_is_number, "a factor"),
    "noise_norms": (_are_numbers, "a list of norms, one for each block (Space.block_count)"),
    "data_norms": (_are_numbers, "a list of norms, one for each block (Space.block_count)"),
    "count": (_is_whole, "a whole number"),
    "level": (_is_whole, "a whole number"),
    "parallel": (_of(bool), "True or False"),
}
OTHER_NAMES = {"angles": "angles_rad, in rad: numpy.radians(degrees)", "theta": "angles_rad, in rad", "sod": "sod_mm",
               "sdd": "sdd_mm", "center": "centre", "voxel_size": "pitch", "shape": "size, as (nx, ny, nz)",
               "pitch": "bin_pitch, in mm", "nonnegative": "bounds=tandem.above_zero", "n_bins": "bins",
               "pixel_size": "bin_pitch, in mm"}


def in_one_line(name: str, signature: inspect.Signature, arguments: tuple, keywords: dict[str, Any]) -> TypeError:
    """What is wrong with a call, and what to write."""
    known = list(signature.parameters)
    for word in keywords:
        if word not in known:
            close = difflib.get_close_matches(word, known, 1)
            hint = OTHER_NAMES.get(word) or (close[0] if close else ", ".join(known))
            return TypeError(f"{name}: {word} is not known; give {hint}")
    try:
        given = signature.bind(*arguments, **keywords).arguments
    except TypeError as error:
        return TypeError(f"{name}: {error}; it is {name}{_without_types(signature)}")
    for word, value in given.items():
        holds, words = NEEDED.get(word, (lambda _: True, ""))
        if not holds(value) and not (value is None and signature.parameters[word].default is None):
            return TypeError(f"{name}: {word} is {shown(value)}; give {words}")
    values = ", ".join(f"{word} = {shown(value)}" for word, value in given.items())
    return TypeError(f"{name}: {values} do not fit; it is {name}{_without_types(signature)}")


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


def explained(function: Any) -> Any:
    """A function of the bindings, with a signature, and with errors of one line for arguments that do not fit."""
    signature = signature_of(function)

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
        raise in_one_line(function.__name__, signature, arguments, keywords)

    functools.update_wrapper(call, function, ("__name__", "__qualname__", "__doc__"))
    call.__module__, call.__signature__ = "tandem", signature  # type: ignore[attr-defined]
    return call


def explain_all(names: dict[str, Any]) -> None:
    """All functions of the bindings among these names."""
    for name, value in names.items():
        if type(value).__name__ == "nb_func":
            names[name] = explained(value)


def require_scan(name: str, scan: Any, *kinds: type, instead: str = "") -> None:
    """Raises TypeError unless a scan is of one of these kinds."""
    if isinstance(scan, kinds):
        return
    if isinstance(scan, SCANS):
        raise TypeError(f"{name}: the scan is a {type(scan).__name__}; give {instead}")
    words = NEEDED["scan"][1]
    raise TypeError(f"{name}: scan is {shown(scan)}; give {words}")
