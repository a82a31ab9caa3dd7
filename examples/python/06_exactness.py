"""Does a back-projector match its projector? tandem's pairs beside `radon` and `iradon` of scikit-image. The coupling
degree sees scale alone: it is near 1 for a pair that blurs differently forward and back. The mismatch sees every
difference (docs/kernels.md). A solver on an unmatched pair ends somewhere else, or diverges.

Expected output (the last digits may differ):
  pair                        coupling    mismatch
  tandem, pixel_driven        1.000000       3e-07
  tandem, joseph              1.000000       2e-07
  tandem, fourier             1.000000       2e-07
  scikit-image                1.000103       2e-02
"""
# %%
import numpy as np
from skimage.transform import iradon, radon

import tandem

size, degrees = 64, np.arange(0, 180, 3.0)
bins = len(radon(np.zeros((size, size)), [0], circle=False))  # scikit-image's detector is as long as the diagonal
scan = tandem.ParallelBeam(tandem.Detector(bins=bins), np.radians(degrees))
grid = tandem.VolumeGrid((size, size, 1))
pairs = {f"tandem, {model}": tandem.projector(scan, grid, model) for model in ("pixel_driven", "joseph", "fourier")}


# %%
# Its data are (bin, view). Its back-projector without a filter is a mean over views times pi / 2.
def forward(x):
    return radon(x[0], degrees, circle=False).T[:, None]


def back(y):
    mean = iradon(y[:, 0].T, degrees, filter_name=None, circle=False, output_size=size)
    return mean[None] * len(degrees) * 2 / np.pi


A = pairs["tandem, pixel_driven"]
pairs["scikit-image"] = tandem.make_operator(A.domain, A.range, forward, back)

# %%
print(f"{'pair':26s} {'coupling':>9s} {'mismatch':>11s}")
found = {name: tandem.adjointness(pair, trials=4) for name, pair in pairs.items()}
for name, pair in found.items():
    print(f"{name:26s} {pair.coupling:9.6f} {pair.mismatch:11.0e}")
assert all((pair.mismatch < 2e-6) == name.startswith("tandem") for name, pair in found.items())

# %%
# What one bin of one view gives back: the footprints that a projector must have, too.
y = np.zeros(A.range.shapes[0], np.float32)
y[7, 0, bins // 2 + 9] = 1
spread = {name: pair.T @ y for name, pair in pairs.items()}
