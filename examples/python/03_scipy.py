"""SciPy's own solver on a cone beam: it takes the operator as it is, and agrees with tandem's.

Expected output (the last digits may differ):
  difference of the two solutions after 10 iterations: 6e-07
  mismatch of the pair: 3e-07
"""
# %%
import numpy as np
import scipy.sparse.linalg

import tandem

scan = tandem.ConeBeam(tandem.Detector(bins=63, rows=31, bin_pitch=0.8), np.linspace(0, 2 * np.pi, 90, endpoint=False),
                       sod_mm=120, sdd_mm=200)
grid = tandem.fitting_grid(scan)
A = tandem.projector(scan, grid)
y = tandem.project(tandem.ellipsoids().scaled(tandem.half_width(grid)), scan)

# %%
theirs = scipy.sparse.linalg.lsqr(A, y.ravel(), iter_lim=10, atol=0, btol=0)[0].reshape(grid.shape)
ours = tandem.Lsqr(A, y)
tandem.run(ours, tandem.max_iterations(10))
difference = np.linalg.norm(ours.solution - theirs) / np.linalg.norm(theirs)
mismatch = tandem.adjointness(A).mismatch
print(f"difference of the two solutions after 10 iterations: {difference:.0e}\nmismatch of the pair: {mismatch:.0e}")
assert difference < 1e-5 and mismatch < 2e-6
