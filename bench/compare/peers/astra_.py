"""On the CPU its two-dimensional code, one slice a call; on a GPU the three-dimensional one, on tensors of PyTorch."""
import astra
import numpy as np

import cases

from . import NotHere, Tool

up = lambda a: np.ascontiguousarray(a[:, ::-1], np.float32)  # its rows go down in two dimensions, up in three


def flat(case, scan, kind):
    """Objects that are linked to arrays of NumPy, and algorithms that work on them."""
    grid = astra.create_vol_geom(case.size, case.size)
    projector = astra.create_projector(kind, scan, grid)
    x, y = np.zeros((case.size, case.size), np.float32), np.zeros((case.views, case.bins), np.float32)
    ids = {"ProjectorId": projector}
    volume, data = astra.data2d.link("-vol", grid, x), astra.data2d.link("-sino", scan, y)

    def runs(name, filled, result, **more):
        algorithm = astra.algorithm.create({"type": name, **ids, **more})

        def run(array):
            filled[:] = array
            astra.algorithm.run(algorithm)
            return result
        return run

    into, out_of = {"VolumeDataId": volume}, {"ProjectionDataId": data, "ReconstructionDataId": volume}
    forward = runs("FP", x, y, **into, ProjectionDataId=data)
    back = runs("BP", y, x, **out_of)
    tool = Tool(f"{kind}; exact pair", lambda a: up(a)[0], lambda a: a[None, ::-1],
                lambda a: np.ascontiguousarray(a[:, 0]), lambda a: a[:, None], forward, back, slices=1)
    if kind == "linear":
        tool.reconstruct = runs("FBP", y, x, **out_of, FilterType="Ram-Lak")
    else:
        tool.lacks["reconstruct"] = "its FBP of a fan needs a GPU"
    return tool


def solid(case, scan):
    import torch
    grid = astra.create_vol_geom(case.size, case.size, case.slices)
    projector = astra.create_projector("cuda3d", scan, grid)
    x = torch.zeros(astra.geom_size(grid), device="cuda")
    y = torch.zeros(astra.geom_size(scan), device="cuda")

    def through(direct, out):
        def run(given):
            direct(projector, given, out=out)
            return out
        return run

    gpu = lambda a: torch.as_tensor(np.ascontiguousarray(a, np.float32), device="cuda")
    swapped = lambda a: np.ascontiguousarray(np.swapaxes(a, 0, 1))  # its projections are (row, view, bin)
    tool = Tool("rays forward, voxels back; unmatched", gpu, lambda t: t.cpu().numpy(),
                lambda a: gpu(swapped(a)), lambda t: swapped(t.cpu().numpy()),
                through(astra.projector3d.direct_FP, y), through(astra.projector3d.direct_BP, x))
    if case.beam == "cone":
        tool.reconstruct = fdk(grid, scan, x, y)
    return tool


def fdk(grid, scan, x, y):
    ids = {"ProjectionDataId": astra.data3d.link("-sino", scan, y),
           "ReconstructionDataId": astra.data3d.link("-vol", grid, x)}
    algorithm = astra.algorithm.create({"type": "FDK_CUDA", **ids})

    def run(given):
        y.copy_(given)
        astra.algorithm.run(algorithm)
        return x
    return run


def parallel(case, device):
    if device == "cpu":
        return flat(case, astra.create_proj_geom("parallel", 1.0, case.bins, case.angles), "linear")
    tool = solid(case, astra.create_proj_geom("parallel3d", 1.0, 1.0, case.rows, case.bins, case.angles))
    tool.lacks["reconstruct"] = "its FBP on a GPU takes slices one by one, from the host"
    return tool


def fan(case, device):
    scan = astra.create_proj_geom("fanflat", case.cell, case.bins, case.angles, case.sod, case.sdd - case.sod)
    if device == "cpu":
        return flat(case, scan, "line_fanflat")
    raise NotHere("its fan on a GPU takes arrays of the host")


def cone(case, device):
    if device == "cpu":
        raise NotHere("its cone beams need a GPU")
    return solid(case, astra.create_proj_geom("cone", case.cell, case.cell, case.rows, case.bins, case.angles, case.sod,
                                              case.sdd - case.sod))


def fan_vectors(case, device):
    if device != "cpu":
        raise NotHere("its fan on a GPU takes arrays of the host")
    plane = cases.vectors(case)[:, [0, 1, 3, 4, 6, 7]]
    tool = flat(case, astra.create_proj_geom("fanflat_vec", case.bins, plane), "line_fanflat")
    tool.lacks["reconstruct"] = "these views have no filter"
    return tool


def cone_vectors(case, device):
    if device == "cpu":
        raise NotHere("its cone beams need a GPU")
    return solid(case, astra.create_proj_geom("cone_vec", case.rows, case.bins, cases.vectors(case)))
