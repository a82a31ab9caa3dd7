#!/usr/bin/env python3
"""What a network that is trained with the noisy scan alone gains (docs/noise2inverse.md), on a textured sample at three
levels of noise: dB of its volumes beside FBP and tv, and the tests against invention.

usage: noise2inverse.py [--device D] [--size N] [--slices N] [--views N] [--seconds S] [--photons N,N,N] [--json FILE]

The sample is a round body with some thousand grains of all sizes and attenuations, and pores; line integrals are exact.
Needs torch and the package tandem; D is cpu or cuda (default: a GPU if torch has one). Each network is trained for S
seconds (default 50), so that three take less than five minutes in all. tv finds its weight by itself. FBP is shown with
the best of five windows, as the truth tells; the network and tv do not see the truth. dB: peak signal to noise,
with the largest attenuation as the peak, within the body.
"""
import argparse
import json
import time

import numpy as np
import torch

import tandem

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
parser.add_argument("--size", type=int, default=256)
parser.add_argument("--slices", type=int, default=32)
parser.add_argument("--views", type=int, default=512)
parser.add_argument("--seconds", type=float, default=50)
parser.add_argument("--channels", type=int, default=48)
parser.add_argument("--photons", default="300,1000,10000")
parser.add_argument("--json")
given = parser.parse_args()
ATTENUATION = 2 / given.size  # a line integral of about 2 through the middle


def sample(size, slices, seed=1):
    """The body, its grains and its pores, as ellipsoids."""
    random = np.random.default_rng(seed)
    body = 0.45 * size
    parts = [tandem.Ellipsoid(ATTENUATION, (body, body, np.inf))]
    for _ in range(max(100, int(0.0012 * size * size * slices))):
        radius = np.exp(random.uniform(np.log(1.2), np.log(0.05 * size)))
        axes = radius * random.uniform(0.6, 1.4, 3)
        way, turn = (body - axes.max()) * np.sqrt(random.uniform()), random.uniform(0, 2 * np.pi)
        centre = (way * np.cos(turn), way * np.sin(turn), random.uniform(-0.5, 0.5) * slices)
        change = ATTENUATION * random.choice([-0.3, 0.12, -0.12, 0.25, -0.2], p=[0.1, 0.3, 0.3, 0.15, 0.15])
        parts.append(tandem.Ellipsoid(change, tuple(axes), centre, random.uniform(0, np.pi)))
    return tandem.Phantom(parts)


class Block(torch.nn.Sequential):
    """Two convolutions."""

    def __init__(self, n, m):
        super().__init__(torch.nn.Conv2d(n, m, 3, padding=1, padding_mode="reflect"), torch.nn.ReLU(),
                         torch.nn.Conv2d(m, m, 3, padding=1, padding_mode="reflect"), torch.nn.ReLU())


class Net(torch.nn.Module):
    """A small U-Net: three sizes, which gives its input back at first."""

    def __init__(self, channels):
        super().__init__()
        c = channels
        self.down = torch.nn.ModuleList([Block(1, c), Block(c, 2 * c), Block(2 * c, 2 * c)])
        self.up = torch.nn.ModuleList([Block(4 * c, c), Block(2 * c, c)])
        self.last = torch.nn.Conv2d(c, 1, 1)
        torch.nn.init.zeros_(self.last.weight)
        torch.nn.init.zeros_(self.last.bias)

    def forward(self, x):
        kept, v = [], x
        for k, block in enumerate(self.down):
            v = block(v if k == 0 else torch.nn.functional.avg_pool2d(v, 2))
            kept.append(v)
        for block, beside in zip(self.up, kept[-2::-1]):
            v = torch.nn.functional.interpolate(v, scale_factor=2, mode="bilinear", align_corners=False)
            v = block(torch.cat([v, beside], 1))
        return x + self.last(v)


def pairs(volumes, scale):
    """The mean of all volumes but one, and that one, for each one: (count x slice, 1, y, x)."""
    target = torch.from_numpy(volumes / scale)
    rest = (target.sum(0) - target) / (len(target) - 1)
    return rest.flatten(0, 1)[:, None].to(given.device), target.flatten(0, 1)[:, None].to(given.device)


def train(volumes, scale, seconds, crop=128, batch=16):
    torch.manual_seed(1)
    network = Net(given.channels).to(given.device)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3)
    x, y = pairs(volumes, scale)
    crop, begun, steps = min(crop, x.shape[-1]), time.time(), 0
    random = np.random.default_rng(1)
    while (share := (time.time() - begun) / seconds) < 1:
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * 0.5 * (1 + np.cos(np.pi * share))
        some = torch.as_tensor(random.integers(len(x), size=batch), device=x.device)
        top, left = (int(random.integers(n - crop + 1)) for n in x.shape[-2:])
        turns, part = int(random.integers(4)), (..., slice(top, top + crop), slice(left, left + crop))
        a, b = (torch.rot90(v[some][part], turns, (2, 3)) for v in (x, y))
        loss = (network(a) - b).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        steps += 1
        if x.is_cuda and steps % 20 == 0:
            torch.cuda.synchronize()  # so that the time is that of work done
    return network.eval(), steps


@torch.no_grad()
def applied(network, images, batch=16):
    return torch.cat([network(images[k:k + batch]) for k in range(0, len(images), batch)])[:, 0].cpu().numpy()


def decibels(x, truth, inside):
    error = np.mean((x - truth)[..., inside].astype(float) ** 2)
    return 10 * np.log10(float(truth.max()) ** 2 / error)


def main():
    size, slices = given.size, given.slices
    scan = tandem.ParallelBeam(tandem.Detector(size, slices), np.linspace(0, np.pi, given.views, endpoint=False))
    grid, phantom = tandem.fitting_grid(scan), sample(size, slices)
    exact, truth = tandem.project(phantom, scan), tandem.voxelise(phantom, grid)
    yy, xx = np.mgrid[:size, :size] - 0.5 * (size - 1)
    inside = np.hypot(yy, xx) < 0.44 * size
    print(f"{len(phantom.ellipsoids)} ellipsoids, {slices} slices of {size} x {size}, {given.views} views, line "
          f"integrals up to {exact.max():.2f}, {given.device}", flush=True)
    rows = []
    for photons in map(float, given.photons.split(",")):
        counts = np.maximum(np.random.default_rng(2).poisson(photons * np.exp(-exact.astype(float))), 1)
        y, sigma = -np.log(counts / photons).astype(np.float32), np.sqrt(np.exp(exact) / photons).astype(np.float32)
        begun = time.time()
        volumes = tandem.split(y, 4, scan=scan, progress=False)
        split_s, scale = time.time() - begun, float(volumes.std())
        network, steps = train(volumes, scale, given.seconds)

        def learned(parts, network=network, scale=scale):
            made = applied(network, pairs(parts, scale)[0]) * scale
            return made.reshape(parts.shape).mean(0)

        def way(data):
            return learned(tandem.split(data.astype(np.float32), 4, scan=scan, progress=False))

        def denoise(volume, network=network, scale=scale):
            return applied(network, torch.from_numpy(volume / scale)[:, None].to(given.device)) * scale

        x = learned(volumes)
        windows = [tandem.reconstruct(y, scan=scan, fbp_filter=window, fbp_cutoff=cutoff, progress=False).volume
                   for window, cutoff in (("ramp", 1), ("hann", 1), ("hann", 0.7), ("hann", 0.5), ("hann", 0.35))]
        begun = time.time()
        tv = tandem.reconstruct(y, scan=scan, method="tv", photons=photons, progress=False).volume
        row = {"photons": photons, "fbp": max(decibels(v, truth, inside) for v in windows),
               "tv": decibels(tv, truth, inside), "noise2inverse": decibels(x, truth, inside), "steps": steps,
               "split_seconds": split_s, "tv_seconds": time.time() - begun}
        print(f"{photons:8g} photons: fbp {row['fbp']:.2f} dB, tv {row['tv']:.2f} dB ({row['tv_seconds']:.1f} s), "
              f"noise2inverse {row['noise2inverse']:.2f} dB ({steps} steps; split {split_s:.2f} s)", flush=True)
        for name, check in (("tv", tandem.check_residual(tv, y, scan, sigma)),
                            ("noise2inverse", tandem.check_residual(x, y, scan, sigma)),
                            ("noise2inverse", tandem.check_halves(volumes, denoise)),
                            ("noise2inverse", tandem.check_detail(way, y, scan, sigma)),
                            ("noise2inverse", tandem.check_null(way, scan, sigma, ATTENUATION, draws=2))):
            print(f"    {name}: {check!r}", flush=True)
            row[f"{name} {check.name}"] = {"passed": check.passed, **check.numbers}
        rows.append(row)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
