"""Measures the cost of a call from Python beside its kernels, on a GPU, with PyTorch.

    python bench/python_calls.py [--json FILE]

- call: microseconds that A @ x and A.T @ y keep the host busy, and the time of a call when calls follow each other. The
  latter is the time of the kernels if that is longer. Arrays of 1 MiB lie on the GPU, and `out` is given or made by
  PyTorch. The times of PyTorch for an array and for a sum are there to compare with. A batch is 16 images of 128 x 128.
- leak: the bytes that are still allocated after 1,000 calls, by the driver's own count.
- training: a step of the learned primal-dual network of examples/python beside its projector calls and its layers
  alone.
"""
import argparse
import json
import pathlib
import sys
import time
import warnings

import numpy as np
import torch

import tandem
import tandem.torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples" / "python"))


def seconds(work, repeat):
    """(on the host alone, with all that it queued) for one call, after a first one. The host is timed over five calls
    at a time, the best of twenty: when about a thousand kernels wait in a stream, so does the host."""
    def timed(count):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            work()
        queued = time.perf_counter()
        torch.cuda.synchronize()
        return (queued - begin) / count, (time.perf_counter() - begin) / count

    work()
    return min(timed(5)[0] for _ in range(20)), timed(repeat)[1]


def calls():
    size = 512  # squared floats are 1 MiB
    scan = tandem.ParallelBeam(tandem.Detector(bins=size), np.linspace(0, np.pi, size, endpoint=False))
    grid = tandem.fitting_grid(scan)
    A = tandem.projector(scan, grid, device="cuda:0")
    x, y = torch.rand(A.domain.shapes[0], device="cuda"), torch.rand(A.range.shapes[0], device="cuda")
    x_out, y_out = torch.empty_like(x), torch.empty_like(y)
    ways = {"A @ x": lambda: A @ x, "A.T @ y": lambda: A.T @ y, "A.apply(x, out)": lambda: A.apply(x, y_out),
            "identity @ x": lambda I=tandem.identity(A.domain): I @ x,
            "torch, new array": lambda: x.new_empty(x.shape), "torch, x + x": lambda: x + x}
    small = tandem.ParallelBeam(tandem.Detector(bins=128), np.linspace(0, np.pi, 30, endpoint=False))
    S = tandem.projector(small, device="cuda:0")
    images, data = torch.rand((16, *S.domain.shapes[0]), device="cuda"), torch.rand((16, *S.range.shapes[0]),
                                                                                   device="cuda")
    ways |= {"S @ batch": lambda: S @ images, "S @ each": lambda: [S @ image for image in images],
             "S.T @ batch": lambda: S.T @ data, "S.T @ each": lambda: [S.T @ one for one in data]}
    rows = {}
    for name, work in ways.items():
        host, both = seconds(work, 200)
        rows[name] = {"host_us": 1e6 * host, "back_to_back_us": 1e6 * both}
        print(f"{name:16s} host {1e6 * host:7.1f} us, back to back {1e6 * both:7.1f} us")
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    for _ in range(1000):
        A.apply(x, y_out), A.T.apply(y, x_out)
    torch.cuda.synchronize()
    rows["leaked_bytes"] = free - torch.cuda.mem_get_info()[0]
    print(f"1,000 pairs of calls leave {rows['leaked_bytes']} bytes allocated")
    return rows


def training():
    example = __import__("04_learned_primal_dual")
    size, views, unrolled, batch = 128, 30, 10, 8
    scan = tandem.ParallelBeam(tandem.Detector(bins=size), np.linspace(0, np.pi, views, endpoint=False))
    grid = tandem.fitting_grid(scan)
    project, back = tandem.torch.Projector(scan, grid, images=True), example.Adjoint(scan, grid)
    image, data = torch.rand((batch, 1, size, size), device="cuda"), torch.rand((batch, 1, views, size), device="cuda")

    def step_of(project, back_project):
        network = example.LearnedPrimalDual(project, back_project, 0.01, unrolled).to("cuda")
        optimiser = torch.optim.Adam(network.parameters(), 1e-3)

        def step():
            optimiser.zero_grad()
            (network(data) - image).square().mean().backward()
            optimiser.step()
        return step

    class Instead(torch.nn.Module):
        """An operator with the shapes of a projector, which costs almost nothing."""

        def __init__(self, shape):
            super().__init__()
            self.shape = shape

        def forward(self, x):
            return x.mean((2, 3), keepdim=True).expand(-1, -1, *self.shape)

    whole = seconds(step_of(project, back), 20)[1]
    layers = seconds(step_of(Instead((views, size)), Instead((size, size))), 20)[1]
    each = seconds(lambda: project(image), 50)[1] + seconds(lambda: back(data), 50)[1]
    # forward: A for each block, At for each and once for f; backward: the adjoint of those whose input has a gradient
    projectors = each * (2 * unrolled - 1) + seconds(lambda: back(data), 50)[1]
    row = {"step_ms": 1e3 * whole, "layers_ms": 1e3 * layers, "projectors_ms": 1e3 * projectors,
           "ratio": whole / (layers + projectors)}
    print("training step {step_ms:.1f} ms, layers alone {layers_ms:.1f}, projector calls alone {projectors_ms:.1f}: "
          "{ratio:.2f} times both".format(**row))
    return row


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--json")
    o = options.parse_args()
    if not torch.cuda.is_available():
        sys.exit("python_calls: skipped, no GPU here")
    warnings.simplefilter("error", tandem.CopyWarning)
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "calls": calls(),
             "training": training()}
    if o.json:
        pathlib.Path(o.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
