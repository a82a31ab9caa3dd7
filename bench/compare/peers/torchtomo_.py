import math

import numpy as np
import torch
import torchtomo

from . import Tool


def tool(A, device, to_volume, from_volume, to_data, from_data, **more):
    on = lambda a: torch.as_tensor(np.array(a, np.float32, order="C"), device=device)
    off = lambda t: t.cpu().numpy()
    return Tool("bilinear samples of rays; exact pair", lambda a: on(to_volume(a)), lambda t: from_volume(off(t)),
                lambda a: on(to_data(a)), lambda t: from_data(off(t)), torch.no_grad()(A),
                torch.no_grad()(A.adjoint), **more)


def flat(A, device, way=1):
    """Slices are a batch; its unit of length is half the width of the image. Its rows go down."""
    A = A.to(device)
    unit = A.img_size / 2  # so its projections are ours by unit, and their transpose wants ours times unit
    return tool(A, device, lambda a: a[:, None, ::-1, ::way], lambda a: a[:, 0, ::-1, ::way],
                lambda a: np.swapaxes(a, 0, 1)[:, None, :, ::way] * unit,
                lambda a: np.swapaxes(a[:, 0], 0, 1)[..., ::way] * unit,
                reconstruct=torch.no_grad()(lambda d: A.fbp(d) / unit**2))


def parallel(case, device):
    return flat(torchtomo.ParallelBeam(case.size, case.views, case.bins, circle=False, backend="auto",
                                       angles=torch.as_tensor(case.angles, dtype=torch.float32)), device)


def fan(case, device):
    return flat(torchtomo.FanBeam(case.size, case.views, case.bins, src_dist=case.sod, det_dist=case.sdd - case.sod,
                                  det_spacing=case.cell, circle=False, backend="auto",
                                  angles=torch.as_tensor(case.angles, dtype=torch.float32)), device, way=-1)


def cone(case, device):
    c, s = np.cos(case.angles)[:, None, None], np.sin(case.angles)[:, None, None]
    u = (np.arange(case.bins) - (case.bins - 1) / 2)[None, None, :] * case.cell
    v = (np.arange(case.rows) - (case.rows - 1) / 2)[None, :, None] * case.cell
    far = case.sdd - case.sod
    # as in docs/conventions.md: at angle 0 the source is on the negative y axis
    cells = np.stack(np.broadcast_arrays(c * u - s * far, s * u + c * far, v + 0 * c), axis=-1)
    sources = case.sod * np.stack([np.sin(case.angles), -np.cos(case.angles), 0 * case.angles], axis=-1)
    tensor = lambda a: torch.as_tensor(a, dtype=torch.float32)
    A = torchtomo.ConeBeam(case.volume_shape, tensor(sources), tensor(cells), n_samples=2 * case.size,
                           backend="auto").to(device)
    return tool(A, device, lambda a: a[None, None], lambda a: a[0, 0], lambda a: a[None, None], lambda a: a[0, 0],
                lacks={"reconstruct": "it has no FDK"})
