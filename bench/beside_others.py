"""Projectors of several packages for Python on one GPU: milliseconds forward and back, and how well they match.

    python bench/beside_others.py [--case parallel|cone] [--scale 1] [--json FILE]

- parallel: 256 slices of 1024 x 1024 pixels, 720 views over 180 degrees, 1024 bins.
- cone: 512 x 512 x 512 voxels, 360 views of 576 rows and 768 bins, magnification 2.

Data lie on the GPU before and after, and memory for results is there where a package takes it. A time is the median of
5 calls after one that warms up. A package that is not installed, or cannot do a case, is named and left out. How the
numbers for a pair A, B are found:

- coupling: <A x, y> / <x, B y> with numbers in [0, 1). It is 1 if B is the transpose; another number is a scale.
- mismatch: as `tandem.adjointness` has it, from vectors of +1 and -1: an estimate of |A - c Bt| / |A|, where c is the
  coupling. So nobody is charged for a scale.
"""
import argparse
import json
import math
import pathlib
import statistics
import time

import numpy as np
import torch


class Pair:
    """A projector of one package: tensors of PyTorch in its own layout, volume to data and back."""

    def __init__(self, volume, data, forward, back):
        self.volume, self.data, self.forward, self.back = volume, data, forward, back


class Parallel:
    def __init__(self, scale):
        self.size, self.slices, self.views = (int(n * scale) for n in (1024, 256, 720))
        self.angles = np.linspace(0, math.pi, self.views, endpoint=False)
        self.updates = self.size**2 * self.slices * self.views


class Cone:
    """Lengths are in voxels."""

    def __init__(self, scale):
        self.size, self.views, self.rows, self.bins = (int(n * scale) for n in (512, 360, 576, 768))
        self.sod, self.sdd, self.cell = 1200 * scale, 2400 * scale, 2.0
        self.angles = np.linspace(0, 2 * math.pi, self.views, endpoint=False)
        self.updates = self.size**3 * self.views


def of_tandem(case):
    import tandem
    if isinstance(case, Parallel):
        scan = tandem.ParallelBeam(tandem.Detector(bins=case.size, rows=case.slices), case.angles)
        grid = tandem.VolumeGrid((case.size, case.size, case.slices), (1, 1, 1))
    else:
        detector = tandem.Detector(bins=case.bins, rows=case.rows, bin_pitch=case.cell, row_pitch=case.cell)
        scan = tandem.ConeBeam(detector, case.angles, sod_mm=case.sod, sdd_mm=case.sdd)
        grid = tandem.VolumeGrid((case.size,) * 3, (1, 1, 1))
    A = tandem.projector(scan, grid, device="cuda:0")
    x = torch.empty(A.domain.shapes[0], device="cuda")
    y = torch.empty(A.range.shapes[0], device="cuda")
    return Pair(x, y, lambda v: A.apply(v, out=y), lambda d: A.T.apply(d, out=x))


def of_astra(case):
    import astra
    if isinstance(case, Parallel):
        grid = astra.create_vol_geom(case.size, case.size, case.slices)
        scan = astra.create_proj_geom("parallel3d", 1, 1, case.slices, case.size, case.angles)
    else:
        grid = astra.create_vol_geom(case.size, case.size, case.size)
        scan = astra.create_proj_geom("cone", case.cell, case.cell, case.rows, case.bins, case.angles, case.sod,
                                      case.sdd - case.sod)
    projector = astra.create_projector("cuda3d", scan, grid)
    x = torch.empty(astra.geom_size(grid), device="cuda")
    y = torch.empty(astra.geom_size(scan), device="cuda")
    direct = astra.projector3d
    return Pair(x, y, lambda v: direct.direct_FP(projector, v, out=y), lambda d: direct.direct_BP(projector, d, out=x))


def of_torchtomo(case):
    import torchtomo
    if isinstance(case, Parallel):
        A = torchtomo.ParallelBeam(img_size=case.size, n_angles=case.views, n_det=case.size, backend="cuda",
                                   angles=torch.as_tensor(case.angles, dtype=torch.float32), circle=False).to("cuda")
        x = torch.empty((case.slices, 1, case.size, case.size), device="cuda")
        y = torch.empty((case.slices, 1, case.views, case.size), device="cuda")
    else:
        c, s = np.cos(case.angles)[:, None, None], np.sin(case.angles)[:, None, None]
        u = (np.arange(case.bins) - (case.bins - 1) / 2)[None, None, :] * case.cell
        v = (np.arange(case.rows) - (case.rows - 1) / 2)[None, :, None] * case.cell
        far = case.sdd - case.sod
        cells = np.stack(np.broadcast_arrays(-s * u - c * far, c * u - s * far, v + 0 * c), axis=-1)
        sources = case.sod * np.stack([np.cos(case.angles), np.sin(case.angles), 0 * case.angles], axis=-1)
        tensor = lambda a: torch.as_tensor(a, dtype=torch.float32)
        A = torchtomo.ConeBeam(volume_shape=(case.size,) * 3, source_positions=tensor(sources),
                               detector_positions=tensor(cells), voxel_spacing=(1.0, 1.0, 1.0), n_samples=2 * case.size,
                               backend="cuda").to("cuda")
        x = torch.empty((1, 1) + (case.size,) * 3, device="cuda")
        y = torch.empty((1, 1, case.views, case.rows, case.bins), device="cuda")
    return Pair(x, y, torch.no_grad()(A), torch.no_grad()(A.adjoint))


def of_mbirjax(case):
    import jax
    import mbirjax
    angles = jax.numpy.asarray(case.angles)
    if isinstance(case, Parallel):
        model = mbirjax.ParallelBeamModel((case.views, case.slices, case.size), angles)
        model.set_params(recon_shape=(case.size, case.size, case.slices), use_ror_mask=False)
    else:
        model = mbirjax.ConeBeamModel((case.views, case.rows, case.bins), angles, source_detector_dist=case.sdd,
                                      source_iso_dist=case.sod)
        model.set_params(delta_det_channel=case.cell, delta_det_row=case.cell, delta_voxel=1.0,
                         recon_shape=(case.size,) * 3, use_ror_mask=False)

    def through(project):
        def call(tensor):
            done = project(jax.dlpack.from_dlpack(tensor), output_sharded=True)
            return torch.from_dlpack(jax.block_until_ready(done))
        return call

    x = torch.empty(tuple(model.get_params("recon_shape")), device="cuda")
    y = torch.empty(tuple(model.get_params("sinogram_shape")), device="cuda")
    return Pair(x, y, through(model.forward_project), through(model.back_project))


PACKAGES = {"tandem": of_tandem, "astra": of_astra, "torchtomo": of_torchtomo, "mbirjax": of_mbirjax}


def milliseconds(work, data):
    work(data)
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work(data)
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def inner(a, b):
    """In double, a plane at a time."""
    a, b = a.reshape(-1), b.reshape(-1)
    return sum(float(torch.dot(p.double(), q.double())) for p, q in zip(a.split(1 << 26), b.split(1 << 26)))


def products(pair, x, y):
    forward = inner(pair.forward(x), y)
    return forward, inner(x, pair.back(y))


def matching(pair, trials=8):
    generator = torch.Generator("cuda").manual_seed(1)
    random = lambda like: torch.rand(like.shape, generator=generator, device="cuda")
    signs = lambda like: random(like).lt_(0.5).mul_(2).sub_(1)
    positive = [products(pair, random(pair.volume), random(pair.data)) for _ in range(2)]
    coupling = statistics.mean(f / b for f, b in positive)
    signed = [products(pair, signs(pair.volume), signs(pair.data)) for _ in range(trials)]
    difference = sum((f - coupling * b) ** 2 for f, b in signed)
    return coupling, math.sqrt(difference / sum(f**2 for f, _ in signed))


def measure(name, case):
    pair = PACKAGES[name](case)
    ones = [torch.rand_like(t) for t in (pair.volume, pair.data)]
    forward, back = milliseconds(pair.forward, ones[0]), milliseconds(pair.back, ones[1])
    coupling, mismatch = matching(pair)
    return {"forward_ms": forward, "back_ms": back, "forward_gups": case.updates / forward / 1e6,
            "back_gups": case.updates / back / 1e6, "coupling": coupling, "mismatch": mismatch}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--case", choices=["parallel", "cone"], action="append")
    options.add_argument("--package", choices=list(PACKAGES), action="append")
    options.add_argument("--scale", type=float, default=1, help="of every size")
    options.add_argument("--json")
    o = options.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("beside_others: skipped, no GPU here")
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "scale": o.scale}
    print(f"{'':20s} {'forward, ms':>12s} {'back, ms':>10s} {'coupling':>10s} {'mismatch':>10s}")
    for case in o.case or ["parallel", "cone"]:
        for name in o.package or PACKAGES:
            try:
                row = measure(name, {"parallel": Parallel, "cone": Cone}[case](o.scale))
            except Exception as error:  # of whatever kind: the others go on
                print(f"{case + ', ' + name:20s} left out: {type(error).__name__}: {error}")
                found[f"{case}, {name}"] = {"left_out": str(error)[:300]}
            else:
                found[f"{case}, {name}"] = row
                print("{:20s} {forward_ms:12.1f} {back_ms:10.1f} {coupling:10.5f} {mismatch:10.1e}".format(
                    case + ", " + name, **row))
            torch.cuda.empty_cache()
    if o.json:
        pathlib.Path(o.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
