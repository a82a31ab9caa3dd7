"""Learned primal-dual (Adler and Öktem, IEEE Trans. Med. Imaging 37(6), 2018): a network of a few unrolled steps, in
which a projector and its adjoint take turns with small convolutions. It is trained on random ellipses that are made on
the way, from few views with noise. It takes less than a minute; --full is a larger network that takes a GPU minutes.

Expected output (numbers differ with the machine):
  PSNR of 32 new images: 29.3 dB by FBP (Hann), 31.2 dB by the network
"""
# %%
import argparse
import time

import numpy as np
import torch
from torch import nn

import tandem
import tandem.torch


# %%
def ellipses(count, size, device, random):
    """Images (count, 1, size, size) of up to twelve ellipses each, within the disc that all views see."""
    t = torch.linspace(-1, 1, size, device=device)
    y, x = torch.meshgrid(t, t, indexing="ij")

    def uniform(low, high):
        return low + (high - low) * torch.rand((count, 12, 1, 1), generator=random).to(device)

    turn, axes = uniform(0, np.pi), (uniform(0.05, 0.4), uniform(0.05, 0.4))
    dx, dy = x - uniform(-0.5, 0.5), y - uniform(-0.5, 0.5)
    u, v = dx * torch.cos(turn) + dy * torch.sin(turn), dy * torch.cos(turn) - dx * torch.sin(turn)
    inside = (u / axes[0]) ** 2 + (v / axes[1]) ** 2 < 1
    image = (inside * uniform(-0.3, 0.7)).sum(1, keepdim=True).clamp(min=0)
    return image * (x * x + y * y < 0.95)


# %%
def block(channels, out, width=32):
    return nn.Sequential(nn.Conv2d(channels, width, 3, padding=1), nn.PReLU(), nn.Conv2d(width, width, 3, padding=1),
                         nn.PReLU(), nn.Conv2d(width, out, 3, padding=1))


class LearnedPrimalDual(nn.Module):
    """Both memories have `kept` channels: h of line integrals, f of images. Algorithm 3 of the paper."""

    def __init__(self, project, back_project, scale, steps, kept=5):
        super().__init__()
        self.project, self.back_project, self.scale, self.kept = project, back_project, scale, kept
        self.dual = nn.ModuleList(block(kept + 2, kept) for _ in range(steps))
        self.primal = nn.ModuleList(block(kept + 1, kept) for _ in range(steps))

    def forward(self, y):
        y = self.scale * y
        back = self.scale * self.back_project(y)
        f = torch.zeros_like(back).expand(-1, self.kept, -1, -1)
        h = torch.zeros_like(y).expand(-1, self.kept, -1, -1)
        for dual, primal in zip(self.dual, self.primal):
            h = h + dual(torch.cat([h, self.scale * self.project(f[:, 1:2]), y], 1))
            f = f + primal(torch.cat([f, self.scale * self.back_project(h[:, :1])], 1))
        return f[:, :1]


class Adjoint(tandem.torch.Layer):
    """The adjoint of a projector as a layer."""

    def __init__(self, scan, grid):
        super().__init__(lambda device: tandem.projector(scan, grid, device=device).T, images=True)


# %%
def psnr(image, truth):
    return float(10 * torch.log10(truth.amax() ** 2 / (image - truth).square().mean()))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--full", action="store_true", help="images of 128 x 128, 10 unrolled steps")
    options.add_argument("--steps", type=int, help="of training (default: 400, with --full 4000)")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    o = options.parse_known_args()[0]  # a notebook has arguments of its own
    size, views, unrolled, batch = (128, 30, 10, 8) if o.full else (48, 12, 4, 4)
    steps = o.steps or (4000 if o.full else 400)

    scan = tandem.ParallelBeam(tandem.Detector(bins=size), np.linspace(0, np.pi, views, endpoint=False))
    grid = tandem.fitting_grid(scan)
    project = tandem.torch.Projector(scan, grid, images=True)
    fbp = tandem.torch.Fbp(scan, grid, "hann", images=True)
    scale = 1 / tandem.operator_norm(tandem.projector(scan, grid))
    torch.manual_seed(1)
    random = torch.Generator().manual_seed(2)
    network = LearnedPrimalDual(project, Adjoint(scan, grid), scale, unrolled).to(o.device)
    optimiser = torch.optim.Adam(network.parameters(), 1e-3 if o.full else 2e-3, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)

    def scans(count):
        truth = ellipses(count, size, o.device, random)
        y = project(truth)
        noise = torch.randn(y.shape, generator=random).to(o.device)
        return truth, y + 0.1 * y.abs().mean() * noise

    begin = time.time()
    for step in range(1, steps + 1):
        truth, y = scans(batch)
        loss = (network(y) - truth).square().mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1)
        optimiser.step()
        schedule.step()
        if step % max(steps // 10, 1) == 0:
            print(f"step {step:4d} of {steps:4d}: {time.time() - begin:.0f} s, loss {loss.item():.5f}", flush=True)

    truth, y = scans(32)
    with torch.no_grad():
        by_fbp, by_network = psnr(fbp(y), truth), psnr(network(y), truth)
    print(f"PSNR of 32 new images: {by_fbp:.1f} dB by FBP (Hann), {by_network:.1f} dB by the network")
    assert by_network > by_fbp + (4 if o.full else 1)


# %%
if __name__ == "__main__":
    main()
