"""radon turns the image, iradon interpolates bins. One slice a call. Its rows go down: angles have the other sign."""
import numpy as np
import skimage.transform

from . import NotHere, Tool


def parallel(case, device):
    if device != "cpu":
        raise NotHere("it has no code for a GPU")
    degrees = -np.degrees(case.angles)
    options = {"theta": degrees, "circle": True}
    return Tool("turned images, interpolated bins; unmatched", lambda a: np.array(a[0]), lambda image: image[None],
                lambda d: np.array(d[:, 0].T), lambda sinogram: sinogram.T[:, None],
                lambda image: skimage.transform.radon(image, **options),
                lambda sinogram: skimage.transform.iradon(sinogram, filter_name=None, **options),
                lambda sinogram: skimage.transform.iradon(sinogram, filter_name="ramp", **options), slices=1,
                off=0.5 if case.size % 2 == 0 else 0.0)
