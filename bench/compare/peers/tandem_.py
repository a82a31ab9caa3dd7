import numpy as np

import cases
import tandem

from . import NotHere, Tool


def arrays(device):
    """What `device` takes, what comes back from there, and room on it."""
    if device == "cuda":
        import torch
        where, to = "cuda:0", lambda a: torch.as_tensor(np.ascontiguousarray(a), device="cuda")
        from_ = lambda t: t.cpu().numpy()
        return where, to, from_, lambda shape: torch.empty(shape, device="cuda")
    to = lambda a: np.ascontiguousarray(a, np.float32)
    return "cpu", to, np.asarray, lambda shape: np.empty(shape, np.float32)


def tool(case, device, model, fourier=False):
    scan, grid = cases.geometry(case)
    where, to, from_, empty = arrays(device)
    A = tandem.projector(scan, grid, model=model, device=where)
    inverse = tandem.fbp if case.beam == "parallel" else tandem.fdk
    B = inverse(scan, grid, model=model if fourier else None, device=where)
    x, y = empty(case.volume_shape), empty(case.data_shape)
    name = model.replace("_", " ").replace("pixel ", "pixel-")
    return Tool(f"{name}; exact pair", to, from_, to, from_, lambda v: A.apply(v, out=y),
                lambda d: A.T.apply(d, out=x), lambda d: B.apply(d, out=x))


def parallel(case, device, model="pixel_driven"):
    return tool(case, device, model, model == "fourier")


def cone(case, device, model="separable_footprint"):
    if model == "fourier":
        raise NotHere("the Fourier model is for parallel beams")
    return tool(case, device, model)


fan = cone


def cone_vectors(case, device, model="separable_footprint"):
    if model == "fourier":
        raise NotHere("the Fourier model is for parallel beams")
    where, to, from_, empty = arrays(device)
    A = tandem.projector(*cases.geometry(case), device=where)
    x, y = empty(case.volume_shape), empty(case.data_shape)
    return Tool("footprint of any geometry; exact pair", to, from_, to, from_, lambda v: A.apply(v, out=y),
                lambda d: A.T.apply(d, out=x), lacks={"reconstruct": "these views have no filter"})


fan_vectors = cone_vectors
