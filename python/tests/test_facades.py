"""Scripts of other packages with another import: the same pictures."""
import numpy as np
import pytest
from conftest import relative

import tandem
import tandem.compat.astra as ours
from tandem.compat import skimage as images

SIZE = 64


def phantom():
    """Shepp and Logan's, as a picture whose lines go down."""
    grid = tandem.VolumeGrid((SIZE, SIZE, 1))
    return np.ascontiguousarray(tandem.voxelise(tandem.shepp_logan().scaled(0.45 * SIZE), grid)[0, ::-1])


def script(astra, P):
    """A script like the samples s001, s003 and s017 of ASTRA."""
    made = {}
    vol_geom = astra.create_vol_geom(SIZE, SIZE)
    proj_geom = astra.create_proj_geom("parallel", 1.0, 96, np.linspace(0, np.pi, 60, False))
    proj_id = astra.create_projector("linear", proj_geom, vol_geom)
    sinogram_id, made["sinogram"] = astra.create_sino(P, proj_id)
    for name, iterations in (("SIRT", 30), ("CGLS", 10), ("FBP", 1), ("BP", 1)):
        rec_id = astra.data2d.create("-vol", vol_geom)
        cfg = astra.astra_dict(name)
        cfg["ReconstructionDataId"] = rec_id
        cfg["ProjectionDataId"] = sinogram_id
        cfg["ProjectorId"] = proj_id
        alg_id = astra.algorithm.create(cfg)
        astra.algorithm.run(alg_id, iterations)
        made[name] = astra.data2d.get(rec_id)
        astra.algorithm.delete(alg_id)
        astra.data2d.delete(rec_id)
    W = astra.OpTomo(proj_id)
    made["FP"], made["W x"], made["Wt y"] = W.FP(P), W * P.ravel(), W.T * made["sinogram"].ravel()
    made["reconstruct"] = W.reconstruct("CGLS", made["sinogram"], 10)
    astra.data2d.delete(sinogram_id)
    astra.projector.delete(proj_id)
    return made


def test_a_script_of_astra_makes_pictures():
    P = phantom()
    made = script(ours, P)
    assert made["sinogram"].shape == (60, 96) and made["SIRT"].shape == P.shape
    for name, most in (("SIRT", 0.45), ("CGLS", 0.35), ("FBP", 0.5), ("reconstruct", 0.35)):
        assert relative(made[name], P) < most
    np.testing.assert_array_equal(made["FP"].ravel(), made["W x"])
    np.testing.assert_array_equal(made["BP"].ravel(), made["Wt y"])
    assert not ours._objects  # all of it was deleted


def test_a_script_of_astra_makes_the_pictures_of_astra():
    """The filters differ in the continuation of rows beyond their ends."""
    astra = pytest.importorskip("astra")
    P = phantom()
    mine, theirs = script(ours, P), script(astra, P)
    for name, most in (("sinogram", 1e-4), ("SIRT", 1e-3), ("CGLS", 2e-3), ("FBP", 0.06), ("BP", 1e-4), ("FP", 1e-4),
                       ("W x", 1e-4), ("Wt y", 1e-4), ("reconstruct", 2e-3)):
        assert mine[name].shape == theirs[name].shape and relative(mine[name], theirs[name]) < most, name


def test_three_dimensions_by_the_names_of_astra():
    """s007: a cube of shells, its projections and a reconstruction, in the order (row, view, column)."""
    vol_geom = ours.create_vol_geom(24, 24, 24)
    cube = np.zeros((24, 24, 24))
    cube[5:17, 8:19, 6:15] = 1
    cube[8:12, 10:13, 9:12] = 0
    for proj_geom in (ours.create_proj_geom("parallel3d", 1.0, 1.0, 28, 36, np.linspace(0, np.pi, 40, False)),
                      ours.create_proj_geom("cone", 1.5, 1.5, 28, 36, np.linspace(0, 2 * np.pi, 40, False), 90, 50)):
        proj_id, proj_data = ours.create_sino3d_gpu(cube, proj_geom, vol_geom)
        assert proj_data.shape == (28, 40, 36) == ours.geom_size(proj_geom)
        for name, steps, most in (("SIRT3D_CUDA", 60, 0.35), ("CGLS3D_CUDA", 15, 0.25)):
            rec_id = ours.data3d.create("-vol", vol_geom)
            cfg = {**ours.astra_dict(name), "ReconstructionDataId": rec_id, "ProjectionDataId": proj_id}
            alg_id = ours.algorithm.create(cfg)
            ours.algorithm.run(alg_id, steps)
            assert relative(ours.data3d.get(rec_id), cube) < most
        pair = ours.create_projector("cuda3d", proj_geom, vol_geom)
        x = cube.astype(np.float32)
        out = np.empty(proj_data.shape, np.float32)
        ours.experimental.direct_FP(pair, x, out)
        np.testing.assert_array_equal(out, proj_data)
        y = ours.direct_BP(pair, out)
        assert np.vdot(y, x) == pytest.approx(np.vdot(out, out), rel=1e-5)  # an exact pair
    ours.clear()


@pytest.mark.parametrize("arguments", [(4,), (4, 5), ((4, 5),), (4, 5, 6), (4, 5, -1, 2, -3, 4),
                                       (4, 5, 6, -1, 1, -2, 2, -3, 3)])
def test_geometries_have_the_fields_of_astra(arguments):
    made = ours.create_vol_geom(*arguments)
    numbers = np.ravel(arguments[0] if isinstance(arguments[0], tuple) else arguments)
    assert made["GridRowCount"] == 4 and made["GridColCount"] == (5 if len(numbers) > 1 else 4)
    astra = pytest.importorskip("astra")
    assert made == astra.create_vol_geom(*arguments)


def script_of_options(astra, P):
    """Scripts like the samples s012, s013, s016 and s022 of ASTRA: masks, bounds, steps one by one, a shifted axis."""
    made = {}
    vol_geom = astra.create_vol_geom(SIZE, SIZE)
    proj_geom = astra.create_proj_geom("parallel", 1.0, SIZE, np.linspace(0, np.pi, 50, False))
    shifted = astra.geom_postalignment(proj_geom, 3.6)
    made["vectors"] = shifted["Vectors"]
    phantom_id, made["phantom"] = astra.data2d.shepp_logan(vol_geom)
    proj_id = astra.create_projector("linear", proj_geom, vol_geom)
    sinogram_id, sinogram = astra.create_sino(phantom_id, proj_id)
    disc = np.hypot(*(np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2)) < 0.48 * SIZE
    volume_mask = astra.data2d.create("-vol", vol_geom, disc)
    data_mask = astra.data2d.create("-sino", proj_geom, np.tile(np.arange(SIZE) > SIZE // 3, (50, 1)))
    for name, option in (("volume mask", {"ReconstructionMaskId": volume_mask}),
                         ("data mask", {"SinogramMaskId": data_mask}),
                         ("bounds", {"MinConstraint": 0, "MaxConstraint": 0.3})):
        rec_id = astra.data2d.create("-vol", vol_geom)
        alg_id = astra.algorithm.create({**astra.astra_dict("SIRT"), "ReconstructionDataId": rec_id, "option": option,
                                         "ProjectionDataId": sinogram_id, "ProjectorId": proj_id})
        for _ in range(15):
            astra.algorithm.run(alg_id, 1)
        made[name] = astra.data2d.get(rec_id)
    moved = astra.create_projector("linear", shifted, vol_geom)
    made["shifted"] = astra.create_sino(P, moved)[1]
    astra.data2d.change_geometry(sinogram_id, shifted)
    return made, alg_id, disc


def test_options_and_masks_of_astra_are_obeyed():
    made, alg_id, disc = script_of_options(ours, phantom())
    assert not made["volume mask"][~disc].any() and made["volume mask"][disc].any()
    assert made["bounds"].min() == 0 and made["bounds"].max() <= np.float32(0.3)
    assert made["phantom"].max() == 1 and 0 < ours.algorithm.get_res_norm(alg_id) < np.inf
    astra = pytest.importorskip("astra")
    theirs = script_of_options(astra, phantom())[0]
    for name, wanted in theirs.items():
        assert relative(made[name], wanted) < 1e-4, name
    for geometry in (("parallel3d", 1.5, 2.0, 8, 20, [0, 1, 2]), ("cone", 1.5, 2.0, 8, 20, [0, 1, 2], 100, 0),
                     ("fanflat", 1.5, 20, [0, 1, 2], 100, 50)):
        wanted = astra.geom_2vec(astra.create_proj_geom(*geometry))
        found = ours.geom_2vec(ours.create_proj_geom(*geometry))
        np.testing.assert_allclose(found.pop("Vectors"), wanted.pop("Vectors"), atol=1e-12)
        assert {key: wanted[key] for key in found} == found


@pytest.mark.parametrize("config, words", [
    ({"type": "SART"}, "algorithm 'SART' is not known; FBP, FDK, BP"),
    ({"type": "SIRT", "option": {"Mask": 3}}, "SIRT: the option Mask is not taken; MaxConstraint, "),
    ({"type": "CGLS", "option": {"MinConstraint": 0}}, "CGLS: the option MinConstraint is not taken"),
    ({"type": "SIRT", "ProjectorId": 999}, "999 is no number of an object that is there"),
    ({"type": "SIRT", "option": {"SinogramMaskId": 999}}, "999 is no number")])
def test_what_is_not_taken_of_a_script_of_astra_is_said(config, words):
    vol_geom, proj_geom = ours.create_vol_geom(8, 8), ours.create_proj_geom("parallel", 1.0, 12, [0, 1, 2])
    whole = {"ReconstructionDataId": ours.data2d.create("-vol", vol_geom),
             "ProjectionDataId": ours.data2d.create("-sino", proj_geom, 1.0), **config}
    with pytest.raises(ValueError, match=words):
        ours.algorithm.run(ours.algorithm.create(whole), 2)
    with pytest.raises(ValueError, match="FBP: the configuration has no ReconstructionDataId"):
        ours.algorithm.run(ours.algorithm.create({"type": "FBP", "ProjectionDataId": 1}))
    with pytest.raises(ValueError, match=r"the data are \(8,\), the geometry has \(8, 8\)"):
        ours.data2d.create("-vol", vol_geom, np.ones(8))
    with pytest.raises(ValueError, match="'parallel' with 2 values; give DetectorWidth, DetectorCount, Proj"):
        ours.create_proj_geom("parallel", 1.0, 12)


def test_radon_and_back_of_scikit_image():
    with pytest.raises(tandem.SpaceError, match="theta: 5 angles; the sinogram .bin, view. has 30 views"):
        images.iradon(np.zeros((64, 30)), np.arange(5))
    with pytest.raises(tandem.SpaceError, match="image: shape .3, 3, 3.; .y, x. is needed"):
        images.radon(np.zeros((3, 3, 3)))
    P = phantom()
    theta = np.linspace(0, 180, 90, endpoint=False)
    sinogram = images.radon(P, theta)
    assert sinogram.shape == (SIZE, 90)
    assert relative(images.iradon(sinogram, theta), P) < 0.4
    assert relative(images.iradon_sart(sinogram, theta), P) < 0.35
    whole = images.radon(P[:50], theta, circle=False)
    assert whole.shape[0] > SIZE and relative(whole.sum(0), np.full(90, P[:50].sum())) < 0.01
    assert images.iradon(whole, theta, output_size=60).shape == (60, 60)
    again = images.iradon_sart(sinogram, theta, image=images.iradon_sart(sinogram, theta))
    assert relative(again, P) < relative(images.iradon_sart(sinogram, theta), P)


@pytest.mark.parametrize("size", [SIZE, SIZE - 1])
def test_pictures_are_those_of_scikit_image(size):
    """If the size is even, pixels at the rim see the end of the detector, where scikit-image has no hat."""
    transform = pytest.importorskip("skimage.transform")
    P = phantom()[:size, :size]
    theta = np.linspace(0, 180, 90, endpoint=False)
    sinogram = transform.radon(P, theta)
    assert relative(images.radon(P, theta), sinogram) < 0.01
    for window, most in (("ramp", 0.01), ("shepp-logan", 0.01), ("cosine", 0.08), ("hann", 0.08), (None, 0.01)):
        wanted = transform.iradon(sinogram, theta, filter_name=window)
        assert relative(images.iradon(sinogram, theta, filter_name=window), wanted) < most, window
    whole = transform.radon(P[:50], theta, circle=False)
    assert relative(images.radon(P[:50], theta, circle=False), whole) < 0.01
    assert relative(images.iradon(whole, theta, circle=False), transform.iradon(whole, theta, circle=False)) < 0.01
    once = transform.iradon_sart(sinogram, theta)
    assert relative(images.iradon_sart(sinogram, theta), once) < 0.01
    twice = transform.iradon_sart(sinogram, theta, image=once.copy(), clip=(0, 1), relaxation=0.2)
    assert relative(images.iradon_sart(sinogram, theta, image=once, clip=(0, 1), relaxation=0.2), twice) < 0.01
    shifts = np.full(90, 0.75)
    shifted = transform.iradon_sart(sinogram, theta, projection_shifts=shifts)
    assert relative(images.iradon_sart(sinogram, theta, projection_shifts=shifts), shifted) < 0.02
    assert relative(shifted, once) > 0.1
