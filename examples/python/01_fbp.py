"""Filtered back-projection in five lines: a phantom, its exact line integrals, and the image.

Expected output (the last digit may differ):
  error: 0.12, most of it at edges; brain: 0.2003, true 0.2
"""
# %%
import numpy as np

import tandem

scan = tandem.ParallelBeam(tandem.Detector(bins=256), angles_rad=np.linspace(0, np.pi, 400, endpoint=False))
grid = tandem.fitting_grid(scan)
head = tandem.shepp_logan().scaled(tandem.half_width(grid))
y = tandem.project(head, scan)  # (view, row, bin)
image = tandem.fbp(scan, grid) @ y  # (slice, y, x)

# %%
truth = tandem.voxelise(head, grid)
error = np.linalg.norm(image - truth) / np.linalg.norm(truth)
brain = image[abs(truth - 0.2) < 1e-4].mean()
print(f"error: {error:.2f}, most of it at edges; brain: {brain:.4f}, true 0.2")
assert error < 0.2 and abs(brain - 0.2) < 2e-3
