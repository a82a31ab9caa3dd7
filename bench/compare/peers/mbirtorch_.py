import mbirtorch
import numpy as np
import torch

from . import Tool


def tool(model, case, device):
    model.set_params(recon_shape=(case.size, case.size, case.slices), use_ror_mask=False, verbose=0)
    model.configure_devices(devices=["cpu" if device == "cpu" else "cuda:0"])
    on = lambda a: torch.as_tensor(np.array(a, np.float32, order="C"), device=device)
    turned = lambda a: np.transpose(a[:, ::-1], (1, 2, 0))  # its volumes are (y, x, slice), and its rows go down
    back_turned = lambda a: np.transpose(a, (2, 0, 1))[:, ::-1]
    through = lambda work: torch.no_grad()(lambda given: work(given, output_sharded=True))
    return Tool("footprints; exact pair", lambda a: on(turned(a)), lambda t: back_turned(t.cpu().numpy()), on,
                lambda t: t.cpu().numpy(), through(model.forward_project), through(model.back_project),
                through(model.recon_direct))


def parallel(case, device):
    return tool(mbirtorch.ParallelBeamModel(case.data_shape, case.angles), case, device)


def cone(case, device):
    model = mbirtorch.ConeBeamModel(case.data_shape, case.angles, source_detector_dist=case.sdd,
                                    source_iso_dist=case.sod)
    model.set_params(delta_det_channel=case.cell, delta_det_row=case.cell, delta_voxel=1.0)
    return tool(model, case, device)
