"""The wheel without CUDA. A parallel beam is one with sdd 0."""
import itk
import numpy as np
from itk import RTK as rtk

from . import NotHere, Tool

Image = itk.Image[itk.F, 3]


def image_of(array, pitches):
    """An image with the axes of RTK, of which the last index of an array is the first: about the origin."""
    image = itk.image_from_array(np.ascontiguousarray(array, np.float32))
    image.SetSpacing(pitches)
    image.SetOrigin([-p * (n - 1) / 2 for p, n in zip(pitches, array.shape[::-1])])
    return image


def tool(case, beyond=0):
    """beyond: the number of empty slices on each side."""
    geometry = rtk.ThreeDCircularProjectionGeometry.New()
    for angle in np.degrees(case.angles):
        geometry.AddProjection(case.sod or 1000.0, case.sdd, angle)
    inside = slice(beyond, case.slices + beyond)
    given = lambda a: np.pad(a[:, ::-1], ((beyond, beyond), (0, 0), (0, 0)))
    volume = lambda a: image_of(np.transpose(given(a), (1, 0, 2)), [1.0] * 3)  # it turns about its y: x, z, -y of ours
    volume_back = lambda image: np.transpose(itk.array_from_image(image), (1, 0, 2))[inside, ::-1]
    data = lambda a: image_of(a, [case.cell, case.cell, 1.0])
    like = {"volume": volume(np.zeros(case.volume_shape)), "data": data(np.zeros(case.data_shape))}

    def through(kind, target):
        """A filter adds to its first input, an image of zeros."""
        def run(image):
            zeros = rtk.ConstantImageSource[Image].New()
            zeros.SetInformationFromImage(like[target])
            work = kind.New()
            work.SetGeometry(geometry)
            work.SetInput(0, zeros.GetOutput())
            work.SetInput(1, image)
            work.Update()
            return work.GetOutput()
        return run

    return Tool("Joseph, and its transpose", volume, volume_back, data, itk.array_from_image,
                through(rtk.JosephForwardProjectionImageFilter[Image, Image], "data"),
                through(rtk.JosephBackProjectionImageFilter[Image, Image], "volume"),
                through(rtk.FDKConeBeamReconstructionFilter[Image], "volume"))


def cpu_only(device):
    if device != "cpu":
        raise NotHere("its wheel for CUDA 13 is not on PyPI")


def parallel(case, device):
    """Joseph's method leaves out rays along the border of the volume, which are its outer slices here."""
    cpu_only(device)
    made = tool(case, beyond=1)
    made.reconstruct = None
    made.lacks["reconstruct"] = "its FDK is for a source at a distance"
    return made


def cone(case, device):
    cpu_only(device)
    return tool(case)
