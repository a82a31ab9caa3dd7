import copy
import io

import numpy as np
import pytest
from conftest import EPSILON, cone_scan, dense, fan_scan, parallel_scan, projector_of, random_array, relative

import tandem

torch = pytest.importorskip("torch")
layers = pytest.importorskip("tandem.torch")


def small(kind):
    """A scan of few numbers, so that a matrix of it is small, and its layers."""
    if kind == "parallel":
        scan, grid = parallel_scan(9, 2, 5), tandem.VolumeGrid((6, 5, 2), (0.9,) * 3, (0.2, 0, 0))
        return layers.Projector(scan, grid), layers.Fbp(scan, grid), layers.RampFilter(scan)
    scan = fan_scan(9, 7) if kind == "fan" else cone_scan(8, 4, 5)
    grid = tandem.VolumeGrid((5, 6, tandem.fitting_grid(scan).size[2]), (2.1,) * 3, (0.2, 0, 0))
    return layers.Projector(scan, grid), layers.Fdk(scan, grid), layers.RampFilter(scan)


CASES = [(kind, i) for kind in ("parallel", "fan", "cone") for i in range(3)]


def tensor(array, **keywords):
    return torch.tensor(array, **keywords)


def test_tensors_give_tensors_with_the_bits_of_numpy():
    A = projector_of("cone")
    x = random_array((2, 3, *A._domain.inner))
    y = A @ tensor(x)
    assert isinstance(y, torch.Tensor) and y.dtype == torch.float32
    np.testing.assert_array_equal(y.numpy(), A @ x)
    out = torch.empty_like(y)
    assert A.apply(tensor(x), out=out) is out
    assert torch.equal(out, y)


def test_a_layer_asks_for_tensors_and_takes_geometries_of_others():
    scan = parallel_scan(rows=1)
    grid = tandem.grid_to("astra", tandem.fitting_grid(scan))
    layer = layers.Layer(tandem.projector(tandem.scan_to("astra", scan), grid))
    with pytest.raises(TypeError, match=r"x: a ndarray; give a tensor, such as torch.from_numpy\(x\)"):
        layer(random_array((31, 31)))
    x = tensor(random_array((2, 31, 31)), requires_grad=True)
    y = layer(x)
    A = tandem.projector(scan)
    wanted = A @ x.detach().flip(1)[:, None]
    assert torch.equal(y, wanted[:, :, 0])
    (y * y).sum().backward()
    back = (A.T @ (2 * wanted))[:, 0].flip(1)
    assert torch.allclose(x.grad, back, rtol=1e-5, atol=1e-5 * float(back.abs().max()))


def test_tensors_of_every_kind_are_read_or_refused():
    """Most tensors take a short way; what it cannot use takes the long one, with the same bits or the same errors."""
    A = projector_of("parallel")
    x = random_array((2, *A._domain.inner))
    wanted = tensor(A @ x)
    assert torch.equal(A @ torch.nn.Parameter(tensor(x), requires_grad=False), wanted)
    assert torch.equal(A.apply(tensor(x), alpha=2), 2 * wanted)
    assert (A @ tensor(x)[:0]).shape == (0, *A._range.inner)
    negated = torch.complex(torch.zeros(x.shape), -tensor(x)).conj().imag  # torch negates it when it is read
    wide = tensor(np.repeat(x, 2, axis=-1))[..., ::2]
    for other in (negated, wide, tensor(x.astype(float))):
        with pytest.warns(tandem.CopyWarning, match="x: torch.float"):
            assert torch.equal(A @ other, wanted)
    assert torch.equal(layers.applied(A, negated), wanted) and torch.equal(layers.applied(A, wide), wanted)
    for apply in (A.apply, lambda x: layers.applied(A, x)):
        with pytest.raises(tandem.SpaceError, match="x: shape .* is needed"):
            apply(tensor(x)[..., 1:].contiguous())
        with pytest.raises(tandem.SpaceError, match="x: shape"):
            apply(torch.tensor(3.0))
        with pytest.raises(tandem.DeviceError, match="x: lies on meta"):
            apply(tensor(x).to("meta"))


@pytest.mark.parametrize("kind, which", CASES)
def test_gradients_are_those_of_the_matrix_exactly(kind, which):
    """The layer is linear, so its gradient is its adjoint, bit for bit, and that is the transpose of the matrix but for
    the rounding of sums of float32: below n epsilon |M| |y| for n terms."""
    layer = small(kind)[which]
    A = layer.operator()
    M = dense(A)
    x = tensor(random_array((2, *A._domain.inner)), requires_grad=True)
    y = tensor(random_array((2, *A._range.inner), 2), requires_grad=True)
    (gradient,) = torch.autograd.grad(layer(x), x, y, create_graph=True)
    np.testing.assert_array_equal(gradient.detach().numpy(), A.T @ y.detach().numpy())
    wanted = y.detach().numpy().reshape(2, -1).astype(float) @ M
    bound = A.shape[0] * EPSILON * np.linalg.norm(M, 2) * np.linalg.norm(y.detach().numpy())
    assert np.abs(gradient.detach().numpy().reshape(2, -1) - wanted).max() < bound
    # the gradient is linear in y: its own gradient is A again, and that one's is At
    z = tensor(random_array(x.shape, 3), requires_grad=True)
    (second,) = torch.autograd.grad(gradient, y, z, create_graph=True)
    np.testing.assert_array_equal(second.detach().numpy(), A @ z.detach().numpy())
    (third,) = torch.autograd.grad(second, z, y.detach())
    np.testing.assert_array_equal(third.numpy(), gradient.detach().numpy())


@pytest.mark.parametrize("kind, which", CASES)
def test_gradcheck_and_gradgradcheck(kind, which):
    """Differences of a linear map have no error but rounding, whatever their step: with a step of 1, entries of the
    matrix come out to the rounding of values, which is below n epsilon times the largest of sum |M| |x|, |x| <= 1."""
    layer = small(kind)[which]
    A = layer.operator()
    M = np.abs(dense(A))
    x = tensor(random_array(A._domain.inner), requires_grad=True)
    bound = max(A.shape) * EPSILON * 2 * max(M.sum(0).max(), M.sum(1).max())
    tolerance = {"eps": 1.0, "atol": bound, "rtol": 0}
    assert bound < 0.05 * M.max()
    with pytest.warns(UserWarning, match="double precision"):
        assert torch.autograd.gradcheck(layer, x, **tolerance)
        assert torch.autograd.gradgradcheck(layer, x, tensor(random_array(A._range.inner, 4), requires_grad=True),
                                            **tolerance)


def test_a_loss_has_the_gradient_of_least_squares():
    layer = small("cone")[0]
    A = layer.operator()
    b, x = random_array(A._range.inner, 5), random_array(A._domain.inner)
    t = tensor(x, requires_grad=True)
    (0.5 * (layer(t) - tensor(b)).square().sum()).backward()
    assert relative(t.grad, A.T @ (A @ x - b)) < 10 * EPSILON
    t.grad = None
    layer(t).sum().backward()  # a gradient that is one number, repeated
    np.testing.assert_array_equal(t.grad.numpy(), A.T @ np.ones(A._range.inner, np.float32))


def test_operators_track_gradients_of_tensors():
    A = projector_of("parallel")
    x = tensor(random_array(A._domain.inner), requires_grad=True)
    y = random_array(A._range.inner)
    ((2 * A) @ x).backward(tensor(y))
    assert relative(x.grad, 2 * (A.T @ y)) < 4 * EPSILON
    with pytest.raises(TypeError, match="out: x needs a gradient"):
        A.apply(x, out=torch.empty(A._range.inner))
    with torch.no_grad():
        A.apply(x, out=torch.empty(A._range.inner))
    with pytest.raises(ValueError, match="out: it is read-only, or needs a gradient"):
        A.apply(x.detach(), out=torch.empty(A._range.inner, requires_grad=True))
    T = tandem.vstack([A, A])
    x.grad = None
    first, second = T @ x
    (first + 2 * second).backward(tensor(y))
    assert relative(x.grad, 3 * (A.T @ y)) < 4 * EPSILON


def test_images_leave_out_axes_of_one():
    scan = parallel_scan(21, 1, 11)
    layer, back = layers.Projector(scan, images=True), layers.Fbp(scan, images=True)
    x = tensor(random_array((2, 3, 21, 21)))
    y = layer(x)
    assert y.shape == (2, 3, 11, 21) and back(y).shape == x.shape
    assert torch.equal(y[1, 2], (layer.operator() @ x[1, 2][None])[:, 0])
    with pytest.raises(tandem.SpaceError, match="images"):
        layers.Projector(parallel_scan(), images=True)


def test_other_types_become_float32():
    layer = small("fan")[0]
    A = layer.operator()
    x = tensor(random_array(A._domain.inner))
    for kind in (torch.float64, torch.bfloat16):
        t = x.to(kind).requires_grad_()
        y = layer(t)
        assert y.dtype == torch.float32
        y.sum().backward()
        assert t.grad.dtype == kind
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x)
        assert y.dtype == torch.float32 and torch.equal(y, layer(x))
    assert torch.equal(y, layer(x))
    with pytest.raises(TypeError, match="x: torch.complex64"):
        layer(x.to(torch.complex64))
    with pytest.raises(tandem.SpaceError, match="x: shape"):
        layer(x[0])


def test_layers_can_be_copied_stored_and_compiled():
    layer = small("parallel")[1]
    x = tensor(random_array(layer.operator()._domain.inner))
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    for other in (copy.deepcopy(layer), torch.load(file, weights_only=False)):
        assert torch.equal(other(x), layer(x))
    net = torch.nn.Sequential(layer, torch.nn.ReLU())
    compiled = torch.compile(net, backend="eager")
    assert torch.equal(compiled(x), net(x))


def test_forward_mode_and_vmap():
    layer = small("parallel")[0]
    A = layer.operator()
    x, v = tensor(random_array(A._domain.inner)), tensor(random_array(A._domain.inner, 2))
    value, tangent = torch.func.jvp(layer, (x,), (v,))
    assert torch.equal(tangent, layer(v)) and torch.equal(value, layer(x))
    many = tensor(random_array((*A._domain.inner, 4), 3))
    batched = torch.func.vmap(layer, in_dims=3)(many)
    assert torch.equal(batched, torch.stack([layer(many[..., i]) for i in range(4)]))


def test_a_network_trains_through_the_projector():
    torch.manual_seed(1)
    scan = parallel_scan(15, 1, 21)
    A, B = layers.Projector(scan, images=True), layers.Fbp(scan, images=True)
    net = torch.nn.Conv2d(1, 1, 3, padding=1)
    x = torch.rand(4, 1, 15, 15)
    optimiser = torch.optim.Adam(net.parameters(), 0.05)
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        loss = (A(net(B(A(x)))) - A(x)).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]


def test_solvers_give_tensors():
    A = projector_of("cone")
    b = tensor(A @ random_array(A._domain.inner))
    solver = tandem.Cgls(A, b)
    tandem.run(solver, tandem.max_iterations(3))
    assert isinstance(solver.solution, torch.Tensor)
    with pytest.raises(TypeError, match="x0: ndarray"):
        tandem.Cgls(A, b, np.zeros(A._domain.inner, np.float32))


def test_an_operator_is_a_layer():
    scan = tandem.ParallelBeam(tandem.Detector(16, 2), np.arange(10) / 3)
    A = tandem.projector(scan)
    x = torch.rand(2, 16, 16)
    assert torch.equal(tandem.torch.Layer(A)(x), A @ x)
    with pytest.raises(tandem.DeviceError, match="meta"):
        tandem.torch.Layer(A)(torch.empty(2, 16, 16, device="meta"))


def test_tuples_of_a_sum_have_gradients():
    scan = tandem.ParallelBeam(tandem.Detector(16, 2), np.arange(10) / 3)
    A = tandem.projector(scan)
    K = tandem.vstack([A, tandem.gradient(A.domain)])
    parts = [torch.rand(shape, requires_grad=True) for shape in K.range.shapes]
    weights = torch.rand(K.domain.shape)
    (K.T @ tuple(parts)).mul(weights).sum().backward()
    for part, expected in zip(parts, K @ weights):
        assert torch.allclose(part.grad, expected, rtol=1e-5, atol=1e-6)


def test_a_network_is_a_denoiser_and_is_checked():
    """A network without bias that halves its input is Tikhonov's regulariser; its tensors are taken by checks as well."""
    scan = parallel_scan(15, 2, 19)
    A, network = tandem.projector(scan), torch.nn.Conv2d(1, 1, 1, bias=False)
    torch.nn.init.constant_(network.weight, 0.5)

    @torch.no_grad()
    def denoise(v):
        return network(torch.from_numpy(v)[:, None])[:, 0]
    y = A @ random_array(A._domain.inner)
    solver = tandem.Pdhg(A, y, None, tandem.denoiser(lambda v: denoise(v).numpy()), 30.0)
    wanted = tandem.Cgls(A, y, tikhonov_weight=30.0)
    tandem.run(solver, 1000)
    tandem.run(wanted, 100)
    assert relative(solver.solution, wanted.solution) < 1e-3
    with pytest.raises(TypeError, match="denoiser: the function gave a Tensor; an array of NumPy .* y.detach"):
        tandem.run(tandem.Pdhg(A, y, None, tandem.denoiser(denoise), 1.0), 1)
    F = tandem.fbp(scan)
    check = tandem.check_detail(lambda y: denoise(F @ y), y, scan, 0.1, places=[(0.5, 7, 7)], radius=1.5)
    assert not check and check.numbers["most"] < 0.6
