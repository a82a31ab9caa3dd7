"""A new method in twenty lines: least squares without negative voxels, by steps of Barzilai and Borwein. It asks for
A @ x and A.T @ y alone, so it works for every beam, and for arrays of torch and CuPy as they are.

Expected output (the last digits may differ):
  error from 30 views: 0.50 by FBP, 0.15 by 60 steps
"""
# %%
import numpy as np

import tandem


def barzilai_borwein(A, b, x, steps):
    """Minimises |Ax - b|^2 over x >= 0 (Barzilai, Borwein, IMA Journal of Numerical Analysis 8(1), 1988)."""
    g = A.T @ (A @ x - b)
    length = 1 / tandem.operator_norm(A) ** 2
    for _ in range(steps):
        before, gradient = x, g
        x = (x - length * g).clip(0)
        g = A.T @ (A @ x - b)
        s, t = x - before, g - gradient
        length = float((s * s).sum() / (s * t).sum())
    return x


# %%
scan = tandem.ParallelBeam(tandem.Detector(bins=128), angles_rad=np.linspace(0, np.pi, 30, endpoint=False))
grid = tandem.fitting_grid(scan)
head = tandem.shepp_logan().scaled(tandem.half_width(grid))
A, y, truth = tandem.projector(scan, grid, "joseph"), tandem.project(head, scan), tandem.voxelise(head, grid)

# %%
x = barzilai_borwein(A, y, np.zeros(grid.shape, np.float32), 60)
by_fbp, error = (np.linalg.norm(v - truth) / np.linalg.norm(truth) for v in (tandem.fbp(scan, grid) @ y, x))
print(f"error from 30 views: {by_fbp:.2f} by FBP, {error:.2f} by 60 steps")
assert error < 0.7 * by_fbp
