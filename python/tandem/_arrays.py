"""The arrays of callers: their kind, their device, and the stream on which their library works now.

Operators take float32 in C order where it lies. Results are made by the library of the caller, on the same device.
"""
from __future__ import annotations

import math
import os
import sys
import warnings
from typing import Any, Sequence

import numpy as np

from . import _core
from ._errors import CopyWarning, DeviceError, RunWarning, SpaceError, UsageError

_used_cuda = _forked_after_cuda = False


def _after_fork() -> None:
    global _forked_after_cuda
    _forked_after_cuda = _used_cuda


os.register_at_fork(after_in_child=_after_fork)


def checked_device(name: str) -> str:
    """The device, unless CUDA was used before this process was forked: it does not go on in a child."""
    global _used_cuda
    if name != "cpu":
        if _forked_after_cuda:
            raise DeviceError(f"device {name}: CUDA was in use when this process was forked, and does not go on here; "
                              "start workers by 'spawn' (multiprocessing.set_start_method)")
        _used_cuda = True
    return name


class NumpyKind:
    """Arrays of NumPy."""

    @staticmethod
    def device(_) -> str:
        return "cpu"

    @staticmethod
    def stream(_) -> tuple[int, Any]:
        return 0, None

    @staticmethod
    def address(array) -> int:
        return array.__array_interface__["data"][0]

    @staticmethod
    def is_ready(array) -> bool:
        return array.dtype == np.float32 and array.flags.c_contiguous and array.flags.aligned

    @staticmethod
    def is_real(array) -> bool:
        return array.dtype.kind in "fiub"

    @staticmethod
    def made_ready(array):
        return np.require(array, np.float32, ["C", "A"])

    @staticmethod
    def is_writable(array) -> bool:
        return array.flags.writeable

    @staticmethod
    def permuted(array, axes: Sequence[int]):
        return array.transpose(axes)

    @staticmethod
    def flipped(array, axes: Sequence[int]):
        return np.flip(array, axes)

    @staticmethod
    def in_order(array):
        return np.ascontiguousarray(array)

    @staticmethod
    def empty(shape: Sequence[int], _):
        return np.empty(shape, np.float32)


class TorchKind:
    """Tensors of torch, on the CPU or a GPU."""

    @staticmethod
    def device(array) -> str:
        return "cpu" if array.device.type == "cpu" else f"{array.device.type}:{array.device.index}"

    @staticmethod
    def stream(array) -> tuple[int, Any]:
        if not array.is_cuda:
            return 0, None
        stream = sys.modules["torch"].cuda.current_stream(array.device)
        return stream.cuda_stream, stream

    @staticmethod
    def address(array) -> int:
        return array.data_ptr()

    @staticmethod
    def is_ready(array) -> bool:
        torch = sys.modules["torch"]
        return array.dtype == torch.float32 and array.is_contiguous() and not array.is_neg()

    @staticmethod
    def is_real(array) -> bool:
        return not array.is_complex() and not array.is_sparse and not array.is_quantized

    @staticmethod
    def made_ready(array):
        return array.detach().to(sys.modules["torch"].float32).resolve_neg().contiguous()

    @staticmethod
    def is_writable(array) -> bool:
        return not array.requires_grad

    @staticmethod
    def permuted(array, axes: Sequence[int]):
        return array.permute(tuple(axes))

    @staticmethod
    def flipped(array, axes: Sequence[int]):
        return array.flip(tuple(axes))

    @staticmethod
    def in_order(array):
        return array.contiguous()

    @staticmethod
    def empty(shape: Sequence[int], like):
        torch = sys.modules["torch"]
        return torch.empty(tuple(shape), dtype=torch.float32, device=like.device)


class CupyKind:
    """Arrays of CuPy, and of others that have __cuda_array_interface__."""

    @staticmethod
    def device(array) -> str:
        return f"cuda:{array.device.id}"

    @staticmethod
    def stream(array) -> tuple[int, Any]:
        with array.device:
            stream = sys.modules["cupy"].cuda.get_current_stream()
        return stream.ptr, stream

    @staticmethod
    def address(array) -> int:
        return array.data.ptr

    @staticmethod
    def is_ready(array) -> bool:
        return array.dtype == np.float32 and array.flags.c_contiguous

    is_real = NumpyKind.is_real

    @staticmethod
    def made_ready(array):
        with array.device:
            return sys.modules["cupy"].ascontiguousarray(array, np.float32)

    @staticmethod
    def is_writable(_) -> bool:
        return True

    permuted = NumpyKind.permuted

    @staticmethod
    def flipped(array, axes: Sequence[int]):
        return sys.modules["cupy"].flip(array, axes)

    @staticmethod
    def in_order(array):
        with array.device:
            return sys.modules["cupy"].ascontiguousarray(array)

    @staticmethod
    def empty(shape: Sequence[int], like):
        with like.device:
            return sys.modules["cupy"].empty(shape, np.float32)


def known(name: str, array, is_read: bool = True):
    """The array as one of a known kind, and that kind. Raises TypeError for what is no array. What is read may be
    anything that becomes one."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: a masked array; give array.filled(value)")
    if isinstance(array, np.ndarray):
        return array, NumpyKind
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(array, torch.Tensor):
        _core.know_torch(torch)
        return array, TorchKind
    if cupy is not None and isinstance(array, cupy.ndarray):
        return array, CupyKind
    if hasattr(array, "__cuda_array_interface__"):
        return _cupy(name).asarray(array), CupyKind
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        on_cpu = array.__dlpack_device__()[0] == 1
        return (np.from_dlpack(array), NumpyKind) if on_cpu else (_cupy(name).from_dlpack(array), CupyKind)
    if is_read and hasattr(array, "as_array"):  # a container of CIL
        return known(name, array.as_array())
    if is_read and (hasattr(array, "__array__") or isinstance(array, (list, tuple))):
        return read_in(name, array), NumpyKind
    raise TypeError(f"{name}: {type(array).__name__} is no array; give one of NumPy, torch or CuPy, or with DLPack")


def read_in(name: str, value) -> np.ndarray:
    """What becomes an array of NumPy, such as lists and arrays of xarray, dask, zarr and h5py; with a warning, unless
    it is one within."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from arrays that do not know `copy` yet
        try:
            return np.asarray(value, copy=False)
        except (TypeError, ValueError):
            pass
        try:
            found = np.asarray(value)
        except ValueError:
            raise TypeError(f"{name}: parts of a {type(value).__name__} have unlike shapes; give an array") from None
    if found.dtype.kind not in "fiub":
        raise TypeError(f"{name}: a {type(value).__name__} of {found.dtype} values; give real numbers, float32 at best")
    warnings.warn(f"{name}: a {type(value).__name__} is read into an array of NumPy, float32; give such an array and "
                  "nothing is copied", CopyWarning, _levels_to_caller())
    return found if found.dtype.kind in "iub" else np.require(found, np.float32, ["C", "A"])


def require_real(name: str, array, kind) -> None:
    """Raises TypeError unless the values of an array are real numbers."""
    if not kind.is_real(array):
        raise TypeError(f"{name}: {array.dtype} values; give real numbers, float32 at best")


def on_host(name: str, array) -> np.ndarray:
    """The array as one of NumPy with real numbers, copied from a GPU if it lies there."""
    found, kind = known(name, array)
    require_real(name, found, kind)
    if kind is TorchKind:
        return found.detach().cpu().resolve_neg().numpy()
    return found.get() if kind is CupyKind else found


def _cupy(name: str):
    try:
        import cupy
    except ImportError:
        raise TypeError(f"{name}: an array of a GPU that is not of torch needs CuPy; install it") from None
    return cupy


def ready(name: str, array, kind):
    """The array as float32 in C order: itself, or a copy, with a warning."""
    if kind.is_ready(array):
        return array
    require_real(name, array, kind)
    warnings.warn(f"{name}: {array.dtype}, strides {_strides(array)}, is copied to float32 in C order; "
                  "give such an array and nothing is copied", CopyWarning, _levels_to_caller())
    return kind.made_ready(array)


def warn(text: str) -> None:
    """Warns of what may be wrong, at the line of the caller."""
    warnings.warn(text, RunWarning, _levels_to_caller())


def _strides(array):
    return array.stride() if callable(getattr(array, "stride", None)) else array.strides


def _levels_to_caller() -> int:
    """The stack level that makes a warning name the line of the caller."""
    here, level, frame = os.path.dirname(__file__), 1, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename).startswith(here):
        frame, level = frame.f_back, level + 1
    return level


def require_device(name: str, device: str, wanted: str) -> None:
    """Raises DeviceError unless an array is on the device of the operator."""
    checked_device(device)
    if device != wanted:
        raise DeviceError(f"{name}: lies on {device}, the operator works on {wanted}; move the array there, or make "
                          f"the operator with device={device!r}")


def batch_of(name: str, shape: Sequence[int], inner: Sequence[int]) -> tuple[int, ...]:
    """The leading axes of a shape before the inner ones. Raises SpaceError if it does not end with these."""
    shape, inner = tuple(shape), tuple(inner)
    outer = len(shape) - len(inner)
    if outer < 0 or shape[outer:] != inner:
        raise SpaceError(f"{name}: shape {shape}; {inner} is needed, with any axes before it")
    return shape[:outer]


def checked_out(array, kind, shape: Sequence[int], device: str):
    """An array to write into. Raises unless it is float32 in C order, of this kind, shape and device, and writable."""
    array, own = known("out", array, is_read=False)
    if own is not kind:
        raise TypeError(f"out: {type(array).__name__} is not of the kind of the input; give one of the same library")
    require_device("out", kind.device(array), device)
    if tuple(array.shape) != tuple(shape):
        raise SpaceError(f"out: shape {tuple(array.shape)}; {tuple(shape)} is needed")
    if not kind.is_ready(array):
        raise TypeError(f"out: {array.dtype}, strides {_strides(array)}; float32 in C order is needed")
    if not kind.is_writable(array):
        raise UsageError("out: it is read-only, or needs a gradient; give an array that may be overwritten")
    return array


def count(shape: Sequence[int]) -> int:
    return math.prod(shape)


def devices() -> list[str]:
    """The devices that this machine has and this build can use: 'cpu', 'cuda:0', ..."""
    global _used_cuda
    if _forked_after_cuda:
        return ["cpu"]
    found = _core.devices()
    _used_cuda = _used_cuda or len(found) > 1
    return found
