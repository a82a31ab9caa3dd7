"""Pages that show volumes and scans, and follow what is done on them."""
from __future__ import annotations

import html
import os
import sys
import weakref
from typing import Any, Optional, Sequence

import numpy as np

from . import _arrays, _core
from ._core import VolumeGrid
from ._errors import SpaceError
from ._mistakes import path_of
from ._show import browser_shows

_HEIGHT = 900


class Look:
    """A page that is served by this process to browsers of this machine, at `address`, until it is closed or nothing
    refers to it any more. A notebook shows it where it ends a cell."""

    def __init__(self, server: _core.Look, arrays: Sequence[np.ndarray] = ()):
        self.address: str = server.address
        self._end = weakref.finalize(self, _close, server, arrays)

    def close(self) -> None:
        """Ends the page."""
        self._end()

    @property
    def closed(self) -> bool:
        """Whether the page has ended."""
        return not self._end.alive

    def __enter__(self) -> Look:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Look {'closed' if self.closed else 'at ' + self.address}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return html.escape(repr(self))
        return f'<iframe src="{html.escape(self.address)}" width="100%" height="{_HEIGHT}" style="border:0"></iframe>'


def _close(server: _core.Look, arrays: Sequence[np.ndarray]) -> None:
    """The arrays stay until here."""
    server.close()


def shown(page: Look, show: bool) -> Look:
    """Opens a browser unless a notebook shows the page; where there is none, prints the address."""
    if show and "ipykernel" not in sys.modules and not browser_shows(page.address):
        print("look at", page.address)
    return page


def _slices(name: str, volume: Any) -> np.ndarray:
    array = _arrays.on_host(name, volume)
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or array.size == 0:
        raise SpaceError(f"{name}: shape {array.shape}; (slice, y, x) is needed, each at least 1")
    return np.require(array, np.float32, ["C", "A"])


def look(volume: Any, grid: Optional[VolumeGrid] = None, *, beside: Any = None, in_mm: bool = True,
         show: bool = True) -> Look:
    """Shows a volume on a page: three planes, values, lengths, and another volume beside it.

    volume: an array (slice, y, x), which stays where it is and is not copied if it is float32 in C order, or a path.
    grid: where an array lies; default: voxels without a length. beside: another one of the same kind and grid. show:
    False opens no browser. The page ends when the result is closed, or when nothing refers to it any more.
    """
    if isinstance(volume, (str, os.PathLike)):
        words = ["look", path_of("volume", volume)]
        words += [] if beside is None else [f"--beside={path_of('beside', beside)}"]
        return shown(Look(_core.look_at(words)), show)
    arrays = [_slices("volume", volume)] + ([] if beside is None else [_slices("beside", beside)])
    shape = arrays[0].shape
    if grid is not None and tuple(grid.shape) != shape:
        raise SpaceError(f"volume: shape {shape}; the grid has {tuple(grid.shape)}")
    if arrays[-1].shape != shape:
        raise SpaceError(f"beside: shape {arrays[-1].shape}; the volume has {shape}")
    server = _core.look_at_arrays([array.ctypes.data for array in arrays], shape, grid, in_mm)
    return shown(Look(server, arrays), show)
