"""Arrays that are seen otherwise than they lie: flipped, transposed, strided, repeated; and what calls leave behind."""
import gc
import os
import warnings

import numpy as np
import pytest
from conftest import cone_scan, fan_scan, parallel_scan, projector_of, random_array

import tandem

SCANS = {"parallel": parallel_scan, "fan": fan_scan, "cone": cone_scan}


def operators_of(kind):
    """The projector, the filter, and FBP or FDK."""
    scan = SCANS[kind]()
    whole = tandem.fbp if kind == "parallel" else tandem.fdk
    return projector_of(kind), tandem.ramp_filter(scan, "hann"), whole(scan, filter="hann")


def seen_otherwise(x):
    """The numbers of x in arrays of other layouts, by name."""
    order = np.roll(range(x.ndim), 1)
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), np.float32)
    wide[..., ::2] = x
    return {"flipped": np.ascontiguousarray(x[..., ::-1])[..., ::-1],
            "flipped views": np.ascontiguousarray(x[::-1])[::-1],
            "transposed": np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order)),
            "Fortran order": np.asfortranarray(x),
            "strided": wide[..., ::2],
            "big-endian": x.astype(">f4"),
            "float64": x.astype(float)}


@pytest.mark.parametrize("kind", SCANS)
def test_only_what_an_array_shows_counts(kind):
    for A in operators_of(kind):
        for A in (A, A.T):
            x = random_array(A._domain.inner)
            wanted = A @ x
            for name, other in seen_otherwise(x).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", tandem.CopyWarning)
                    np.testing.assert_array_equal(A @ other, wanted, err_msg=name)
                    np.testing.assert_array_equal(A.matvec(other.reshape(-1)), wanted.reshape(-1), err_msg=name)


@pytest.mark.parametrize("kind", SCANS)
def test_repeated_numbers_are_as_good_as_copies(kind):
    for A in operators_of(kind):
        one = np.broadcast_to(np.float32(0.5), A._domain.inner)
        with pytest.warns(tandem.CopyWarning):
            seen = A @ one
        np.testing.assert_array_equal(seen, A @ np.full(one.shape, 0.5, np.float32))


@pytest.mark.parametrize("kind", SCANS)
def test_out_is_never_another_layout(kind):
    A = projector_of(kind)
    x, y = random_array(A._domain.inner), np.empty(A._range.inner, np.float32)
    for out in (y[..., ::-1], np.asfortranarray(np.empty(y.shape, np.float32)), y.astype(">f4")):
        with pytest.raises(TypeError, match="out: .* in C order is needed"):
            A.apply(x, out=out)


def test_products_of_other_layouts_are_refused():
    scan = {"type": "parallel", "DetectorWidth": 1.0, "DetectorCount": 24, "ProjectionAngles": np.linspace(0, 3, 9)}
    grid = {"GridRowCount": 16, "GridColCount": 16, "option": {"WindowMinX": -8, "WindowMaxX": 8, "WindowMinY": -8,
                                                               "WindowMaxY": 8}}
    A = tandem.projector(scan, grid)
    mask = tandem.mask(np.ones(A.domain.shape, bool), A.domain)
    for product in (lambda: A * mask, lambda: mask * A.T):  # the picture would be upside down
        with pytest.raises(tandem.SpaceError, match="scan_from"):
            product()
    ours = tandem.projector(tandem.scan_from(scan), tandem.grid_from(grid))
    x = random_array(A._domain.inner)
    np.testing.assert_array_equal((ours * mask) @ x[None, ::-1], ours @ x[None, ::-1])
    np.testing.assert_array_equal((A.T * A) @ x, A.T @ (A @ x))


def test_a_flipped_sinogram_is_the_picture_turned_by_half():
    """t -> -t is (x, y) -> (-x, -y): with the axis at its mirrored place, on a grid about the axis."""
    scan = parallel_scan()
    mirrored = tandem.ParallelBeam(
        tandem.Detector(31, 3, bin_pitch=0.7, axis_bin=30 - scan.detector.axis_bin), scan.angles_rad)
    grid = tandem.VolumeGrid((25, 25, 3), (0.7, 0.7, 1))
    y = random_array(tandem.fbp(scan, grid)._domain.inner)
    with pytest.warns(tandem.CopyWarning):
        turned = tandem.fbp(mirrored, grid) @ y[..., ::-1]
    np.testing.assert_allclose(turned[:, ::-1, ::-1], tandem.fbp(scan, grid) @ y, atol=2e-6 * np.abs(turned).max())


@pytest.mark.parametrize("kind", SCANS)
def test_gradients_come_through_permuted_tensors(kind):
    """The gradient of <w, P A Q x>, with axes exchanged before and after A, is Qt At Pt w."""
    torch = pytest.importorskip("torch")
    from tandem.torch import applied
    for A in operators_of(kind):
        x = torch.tensor(random_array(A._domain.inner).transpose(2, 0, 1).copy(), requires_grad=True)
        w = torch.tensor(random_array(A._range.inner[::-1], 2))
        (applied(A, x.permute(1, 2, 0)).permute(2, 1, 0) * w).sum().backward()
        wanted = A.T @ np.ascontiguousarray(w.numpy().transpose(2, 1, 0))
        np.testing.assert_array_equal(x.grad.numpy(), wanted.transpose(2, 0, 1))
        x.grad = None
        applied(A, x.permute(1, 2, 0).flip(-1)).flip(0).sum().backward()  # a gradient that is one number, seen flipped
        wanted = A.T @ np.ones(A._range.inner, np.float32)
        np.testing.assert_array_equal(x.grad.numpy(), wanted[..., ::-1].transpose(2, 0, 1))


def resident_bytes():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def calls():
    """Ways to call the library, by name. Each makes arrays of a megabyte or so."""
    scan = tandem.ParallelBeam(tandem.Detector(512, 2), np.linspace(0, np.pi, 300, endpoint=False))
    A, B = tandem.projector(scan), tandem.fbp(scan)
    x, y = random_array(A._domain.inner), random_array(A._range.inner)
    ways = {"A x": lambda: A @ x, "At y": lambda: A.T @ y, "FBP": lambda: B @ y,
            "a copy": lambda: A @ x.astype(float),
            "an operator": lambda: tandem.fbp(scan, model="fourier") @ y,
            "algebra": lambda: (2 * A + A) @ x, "stacks": lambda: tandem.vstack([A, A]) @ x,
            "a solver": lambda: tandem.run(tandem.Cgls(A, y), tandem.max_iterations(1)),
            "an error": lambda: pytest.raises(tandem.SpaceError, lambda: A @ y)}
    try:
        import torch
        from tandem.torch import Fbp
        layer, t = Fbp(scan), torch.tensor(y, requires_grad=True)
        ways["backward"] = lambda: layer(t).square().sum().backward()
    except ImportError:
        pass
    return ways


@pytest.mark.parametrize("name, call", calls().items(), ids=list(calls()))
def test_calls_leave_no_memory_behind(name, call):
    """If each of 30 calls left one array of 0.6 MB or more, 18 MB would be left each time. Memory that allocators and
    threads keep is taken only once."""
    def left_by_calls():
        before = resident_bytes()
        for _ in range(30):
            call()
        return resident_bytes() - before

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tandem.CopyWarning)
        for _ in range(10):
            call()
        assert any(left_by_calls() < 9e6 for _ in range(3))
