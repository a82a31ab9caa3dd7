"""FBP of a sinogram, or of several at once; it has no pair of projectors."""
import os

import numpy as np
from algotom.rec import reconstruction

from . import Tool


def parallel(case, device):
    options = {"angles": case.angles, "filter_name": None, "apply_log": False, "gpu": device != "cpu",
               "ncore": len(os.sched_getaffinity(0))}
    centre = (case.bins - 1) / 2
    one = case.slices == 1
    slices = lambda a: (a[None] if one else np.moveaxis(a, 1, 0))[:, ::-1]  # its rows go down
    return Tool("its fbp_reconstruction", lambda a: a, slices,
                lambda a: np.ascontiguousarray(a[:, 0] if one else a, np.float32), lambda a: a,
                reconstruct=lambda d: reconstruction.fbp_reconstruction(d, centre, **options),
                transfers=device != "cpu",
                lacks=dict.fromkeys(["forward", "back"], "it has no projector"))
