"""What Pdhg and Fista keep small beside the misfit of the data, and its weight."""
from __future__ import annotations

import copyreg
from typing import Any, Callable, Optional, Protocol, Sequence, Union, runtime_checkable

import numpy as np

from . import _core, _mistakes
from ._core import Regulariser, Space
from ._errors import SpaceError, UsageError
from ._operator import LinearOperator, floats_at, identity, operator_norm
from ._vectors import Vectors


@runtime_checkable
class OwnRegulariser(Protocol):
    """A regulariser g of your own for Pdhg and Fista, on the CPU: any object with these two methods. With an operator
    ``K`` as its attribute it is g(Kx), else g(x). Vectors are arrays of NumPy with the shape of K's range, or tuples of
    them where it is a sum."""

    def value(self, v: Any) -> Any:
        """g(v). Where slices are problems of their own, an array with a number for each."""

    def prox(self, v: Any, step: Any) -> Any:
        """The least of g(u) + |u - v|^2 / (2 step) over u, of the shape of v. step: a number, or an array with one for
        each slice, (slice, 1, 1), where slices are problems of their own."""


RegulariserLike = Union[Regulariser, OwnRegulariser]


def _kept(regulariser: Regulariser, *made: Any) -> Regulariser:
    """With what makes it anew from a file."""
    regulariser.made = made  # type: ignore[attr-defined]
    return regulariser


def _stored(regulariser: Regulariser) -> tuple:
    make, *arguments = regulariser.made  # type: ignore[attr-defined]
    return make, tuple(arguments)


copyreg.pickle(Regulariser, _stored)
_total_variation, _huber, _tikhonov = map(_mistakes.explained, (_core.total_variation, _core.huber_total_variation,
                                                                _core.tikhonov))


def total_variation(volume: Space, scales: Sequence[float] = (1, 1, 1), shear: float = 0) -> Regulariser:
    """The sum of the lengths of the `gradient`; scales: factors of differences along (slice, y, x)."""
    return _kept(_total_variation(volume, scales, shear), total_variation, volume, scales, shear)


def huber_total_variation(volume: Space, threshold: float, scales: Sequence[float] = (1, 1, 1),
                          shear: float = 0) -> Regulariser:
    """The same, with squares below a threshold, in 1/mm: no staircases."""
    return _kept(_huber(volume, threshold, scales, shear), huber_total_variation, volume, threshold, scales, shear)


def tikhonov(volume: Space) -> Regulariser:
    """Half the sum of squares of all voxels. Without bounds, Cgls with a ``tikhonov_weight`` gets there in fewer
    steps."""
    return _kept(_tikhonov(volume), tikhonov, volume)


class Denoiser:
    """A function as a regulariser: see ``denoiser``."""

    def __init__(self, function: Callable[[np.ndarray], np.ndarray], strength: float):
        self.function, self.strength = function, strength

    def value(self, v: np.ndarray) -> np.ndarray:
        """No objective: half the squares of v, from which Pdhg takes W as its step, so that the one of `prox` is 1."""
        return 0.5 * np.sum(v.astype(float) ** 2, axis=(1, 2))

    def prox(self, v: np.ndarray, step: Any) -> np.ndarray:
        if not np.isfinite(v).all():
            raise UsageError(f"denoiser: steps diverge with strength {self.strength:g}, as the function makes "
                             "differences larger; give strength=0.5 or less, or a smaller weight")
        made = self.function(v if self.strength == 1 else v.copy())
        if not isinstance(made, np.ndarray) or made.dtype.kind not in "fiu":
            kind = f"an array of {made.dtype}" if isinstance(made, np.ndarray) else f"a {type(made).__name__}"
            raise TypeError(f"denoiser: the function gave {kind}; an array of NumPy with real numbers is needed, for a "
                            "tensor y.detach().cpu().numpy()")
        if made.shape != v.shape:
            raise SpaceError(f"denoiser: the function gave shape {made.shape}; it was given {v.shape} (slice, y, x), "
                             "and has to give the same")
        if not np.isfinite(made).all():
            raise UsageError(f"denoiser: {np.count_nonzero(~np.isfinite(made))} of {made.size} voxels that the "
                             "function gave are nan or inf; all have to be finite")
        return made if self.strength == 1 else v + np.float32(self.strength) * (made - v)


def denoiser(function: Callable[[np.ndarray], np.ndarray], strength: float = 1.0) -> OwnRegulariser:
    """A denoiser in the place of the regulariser of `Pdhg`: plug and play. Its proximal map becomes D, `strength` times
    the change that the function makes: x -> x + strength (function(x) - x).

    function: takes an array (slice, y, x) of NumPy, float32, and returns one of the same shape. A network of torch is
    ``lambda x: network(torch.from_numpy(x)[:, None])[:, 0].numpy()`` under ``torch.no_grad()``; it may work on a GPU,
    the solver is on the CPU. strength: above 0 and at most 1.

    Steps end where x = D(x - A^T w (Ax - b) / W), with the weight W of Pdhg: the larger, the more the denoiser counts,
    and the less the data. Nothing is minimised, so Pdhg has no objective and no gap; `settled` and `find_weight` work.
    Steps converge if D is firmly non-expansive and some x fulfils the equation. D is so if the function is
    non-expansive and `strength` at most 0.5, and if the function is a proximal map; of networks this is seldom known.
    Whether the volume is right, nothing here tells: `check_residual` and its like do.

    Sources: Venkatakrishnan, Bouman, Wohlberg, GlobalSIP 2013; Meinhardt, Moeller, Hazirbas, Cremers, ICCV 2017.
    """
    if not 0 < strength <= 1:
        raise UsageError(f"denoiser: strength {strength}; a number above 0 and at most 1 is needed")
    return Denoiser(function, float(strength))


def as_regulariser(given: RegulariserLike, volume: Space) -> Regulariser:
    """That of the library, or one of the caller's own."""
    if isinstance(given, Regulariser):
        return given
    if not (callable(getattr(given, "value", None)) and callable(getattr(given, "prox", None))):
        raise TypeError(f"regulariser: {_mistakes.shown(given)}; give tandem.total_variation(A.domain), or an object "
                        "with value(v) and prox(v, step)")
    if volume.device != "cpu":
        raise SpaceError(f"regulariser: the volume is on {volume.device}; a regulariser of your own works on the cpu")
    K: Optional[LinearOperator] = getattr(given, "K", None)
    norm = 1.0 if K is None else 1.02 * operator_norm(K)  # which comes from below
    return _kept(_core.own_regulariser((identity(volume) if K is None else K)._core, norm ** 2,
                                       *_on_addresses(given, Vectors(volume) if K is None else K._range)),
                 as_regulariser, given, volume)


def _on_addresses(given: OwnRegulariser, vectors: Vectors) -> tuple:
    blocks = vectors.space.block_count
    along = (1, blocks, 1) if "rows" == _kind_of_blocks(vectors.space) else (blocks, 1, 1)

    def at(address: int) -> Any:
        v = floats_at(address, vectors)
        return vectors.split(v, ()) if vectors.is_sum else v

    def prox(address: int, steps: list[float]) -> None:
        v = at(address)
        step = steps[0] if blocks == 1 else np.reshape(np.float32(steps), along)
        copied = tuple(part.copy() for part in v) if vectors.is_sum else v.copy()
        found = given.prox(copied, step)
        targets, results = (v, found) if vectors.is_sum else ((v,), (found,))
        for target, result in zip(targets, results):
            if np.shape(result) != target.shape:
                raise SpaceError(f"regulariser: prox gave shape {np.shape(result)}; {target.shape} is needed")
            target[...] = result

    def value(address: int) -> list[float]:
        values = np.asarray(given.value(at(address)), float).ravel()
        if blocks == 1 and isinstance(given, Denoiser):
            values = values.sum(keepdims=True)
        if len(values) != blocks:
            raise SpaceError(f"regulariser: value gave {len(values)} numbers; {blocks} are needed, one for each block")
        return [float(v) for v in values]

    return prox, value


def _kind_of_blocks(space: Space) -> str:
    first: Any = _core.stored(space)
    while isinstance(first, list):
        first = first[0]
    return ("whole", "slices", "rows")[first[1]]
