"""Its trajectories are given as vectors of each view, in the frame of docs/conventions.md."""
import diffct
import numpy as np
import torch

import cases

from . import Tool


def tool(case, device, trajectory, to_volume, from_volume, to_data, from_data, shapes, **more):
    volume_shape, detector_shape = shapes
    frames = tuple(torch.as_tensor(np.stack(np.broadcast_arrays(*t), -1), dtype=torch.float32, device=device)
                   for t in trajectory)
    beam, _, by_vectors = case.beam.partition("_")
    A = diffct.Projector(frames, volume_shape, detector_shape, beam=beam, detector_spacing=case.cell)
    on = lambda a: torch.as_tensor(np.array(a, np.float32, order="C"), device=device)
    angles = torch.as_tensor(case.angles, dtype=torch.float32, device=device)
    inverse, kind = (diffct.fdk, {}) if beam == "cone" else (diffct.fbp, {"beam": beam})
    if by_vectors:
        more["lacks"] = {"reconstruct": "these views have no filter"}
    reconstruct = lambda data: inverse(data, frames, volume_shape, angles, detector_spacing=case.cell, **kind)
    return Tool("lengths of rays in voxels; exact pair", lambda a: on(to_volume(a)),
                lambda t: from_volume(t.cpu().numpy()), lambda a: on(to_data(a)), lambda t: from_data(t.cpu().numpy()),
                torch.no_grad()(A.project), torch.no_grad()(A.backproject),
                None if by_vectors else torch.no_grad()(reconstruct), **more)


def flat(case, device, trajectory):
    """A slice a call."""
    return tool(case, device, trajectory, lambda a: a[0], lambda a: a[None], lambda a: a[:, 0], lambda a: a[:, None],
                ((case.size, case.size), (case.bins,)), slices=1)


def parallel(case, device):
    c, s = np.cos(case.angles), np.sin(case.angles)
    return flat(case, device, ((-s, c), (0 * c, 0 * c), (c, s)))


def fan(case, device):
    c, s, far = np.cos(case.angles), np.sin(case.angles), case.sdd - case.sod
    return flat(case, device, ((case.sod * s, -case.sod * c), (-far * s, far * c), (c, s)))


def cone(case, device):
    """Its projections are (view, bin, row)."""
    c, s, far, zero = np.cos(case.angles), np.sin(case.angles), case.sdd - case.sod, 0 * case.angles
    swapped = lambda a: np.swapaxes(a, 1, 2)
    return tool(case, device, ((case.sod * s, -case.sod * c, zero), (-far * s, far * c, zero), (c, s, zero),
                               (zero, zero, zero + 1)),
                lambda a: a, lambda a: a, swapped, swapped,
                (case.volume_shape, (case.bins, case.rows)))


def directions(case):
    """Source, middle of the detector, and directions of its bins and rows, each by x, y and z."""
    v = cases.vectors(case)
    return v[:, :3].T, v[:, 3:6].T, v[:, 6:9].T / case.cell, v[:, 9:].T / case.cell


def fan_vectors(case, device):
    return flat(case, device, [tuple(vector[:2]) for vector in directions(case)[:3]])


def cone_vectors(case, device):
    swapped = lambda a: np.swapaxes(a, 1, 2)
    frames = [tuple(vector) for vector in directions(case)]
    return tool(case, device, frames, lambda a: a, lambda a: a, swapped, swapped,
                (case.volume_shape, (case.bins, case.rows)))
