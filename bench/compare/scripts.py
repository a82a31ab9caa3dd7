#!/usr/bin/env python3
"""Ten scripts after the documentation of other packages, before and after: with their import, and with that of tandem.

usage: scripts.py

Prints a table: lines that differ, the relative difference (L2) of the pictures, seconds of each (best of three, without
imports). It needs ASTRA, scikit-image, itk-rtk and tandem in one environment. All run on the CPU.
"""
import difflib
import time

import numpy as np

ASTRA = "import astra", "import tandem.compat.astra as astra"
IMAGES = "from skimage.transform import radon, iradon, iradon_sart", \
    "from tandem.compat.skimage import radon, iradon, iradon_sart"

PHANTOM = """
from skimage.data import shepp_logan_phantom
from skimage.transform import resize
P = resize(shepp_logan_phantom(), (256, 256)).astype(np.float32)
"""
PARALLEL = """
vol_geom = astra.create_vol_geom(256, 256)
proj_geom = astra.create_proj_geom('parallel', 1.0, 384, np.linspace(0, np.pi, 180, False))
proj_id = astra.create_projector('linear', proj_geom, vol_geom)
sinogram_id, sinogram = astra.create_sino(P, proj_id)
"""
FAN = """
vol_geom = astra.create_vol_geom(256, 256)
proj_geom = astra.create_proj_geom('fanflat', 1.5, 384, np.linspace(0, 2 * np.pi, 180, False), 600, 300)
proj_id = astra.create_projector('line_fanflat', proj_geom, vol_geom)
sinogram_id, sinogram = astra.create_sino(P, proj_id)
"""
RUN = """
rec_id = astra.data2d.create('-vol', vol_geom)
cfg = astra.astra_dict('{name}')
cfg['ReconstructionDataId'] = rec_id
cfg['ProjectionDataId'] = sinogram_id
cfg['ProjectorId'] = proj_id
alg_id = astra.algorithm.create(cfg)
astra.algorithm.run(alg_id, {steps})
picture = astra.data2d.get(rec_id)
astra.algorithm.delete(alg_id)
astra.data2d.delete([rec_id, sinogram_id])
astra.projector.delete(proj_id)
"""
LSQR = """
import scipy.sparse.linalg
W = astra.OpTomo(proj_id)
picture = scipy.sparse.linalg.lsqr(W, sinogram.flatten(), iter_lim=20)[0].reshape(256, 256)
"""
BACK = """
W = astra.OpTomo(proj_id)
picture = (W.T * sinogram.ravel()).reshape(256, 256)
"""
RADON = """
image = resize(shepp_logan_phantom(), (160, 160))
theta = np.linspace(0.0, 180.0, max(image.shape), endpoint=False)
sinogram = radon(image, theta=theta)
"""
SART = """
first = iradon_sart(sinogram, theta=theta)
picture = iradon_sart(sinogram, theta=theta, image=first)
"""
RTK_SCAN = """
import itk
from itk import RTK as rtk
Image = itk.Image[itk.F, 3]
geometry = rtk.ThreeDCircularProjectionGeometry.New()
for k in range(120):
    geometry.AddProjection(600.0, 1200.0, k * 3.0)
def constant(size, spacing):
    source = rtk.ConstantImageSource[Image].New()
    source.SetOrigin([-s * (n - 1) / 2 for s, n in zip(spacing, size)])
    source.SetSpacing(spacing)
    source.SetSize(size)
    source.Update()
    return source.GetOutput()
rei = rtk.RayEllipsoidIntersectionImageFilter[Image, Image].New()
rei.SetAxis([45.0, 60.0, 45.0])
rei.SetCenter([8.0, 5.0, -12.0])
rei.SetDensity(2.0)
rei.SetGeometry(geometry)
rei.SetInput(constant([96, 96, 120], [4.0, 4.0, 1.0]))
rei.Update()
volume = constant([64, 64, 64], [2.4, 2.4, 2.4])
"""
FELDKAMP = """
feldkamp = rtk.FDKConeBeamReconstructionFilter[Image].New()
feldkamp.SetInput(0, volume)
feldkamp.SetInput(1, rei.GetOutput())
feldkamp.SetGeometry(geometry)
feldkamp.Update()
picture = itk.array_from_image(feldkamp.GetOutput())
""", """
data = rei.GetOutput()
picture = tandem.fdk((geometry, data), volume) @ itk.array_from_image(data)
"""


def astra_script(name, *parts):
    body = PHANTOM + "".join(parts)
    return name, ASTRA[0] + body, ASTRA[1] + body


def image_script(name, end):
    body = PHANTOM + RADON + end
    return name, IMAGES[0] + body, IMAGES[1] + body


SCRIPTS = [
    astra_script("ASTRA, a sinogram (s001)", PARALLEL, "picture = sinogram\n"),
    astra_script("ASTRA, SIRT, 20 steps (s004)", PARALLEL, RUN.format(name="SIRT", steps=20)),
    astra_script("ASTRA, CGLS, 20 steps", PARALLEL, RUN.format(name="CGLS", steps=20)),
    astra_script("ASTRA, FBP (s014)", PARALLEL, RUN.format(name="FBP", steps=1)),
    astra_script("ASTRA, OpTomo in SciPy's lsqr (s017)", PARALLEL, LSQR),
    astra_script("ASTRA, a fan, SIRT, 20 steps", FAN, RUN.format(name="SIRT", steps=20)),
    astra_script("ASTRA, a fan, back-projected", FAN, BACK),
    image_script("scikit-image, radon and iradon (plot_radon_transform)", "picture = iradon(sinogram, theta=theta)\n"),
    image_script("scikit-image, two passes of SART (plot_radon_transform)", SART),
    ("RTK, FDK (FirstReconstruction)", RTK_SCAN + FELDKAMP[0], "import tandem" + RTK_SCAN + FELDKAMP[1]),
]


def run(text):
    """(picture, seconds); what is imported is imported before."""
    code, best = compile(text, "script", "exec"), np.inf
    for _ in range(3):
        names = {"np": np}
        exec("\n".join(line for line in text.splitlines() if line.startswith(("import", "from"))), names)
        start = time.perf_counter()
        exec(code, names)
        best = min(best, time.perf_counter() - start)
    return np.asarray(names["picture"], float), best


def main():
    print("| script | lines changed | difference | its seconds | tandem's seconds |\n| --- | --- | --- | --- | --- |")
    for name, before, after in SCRIPTS:
        changes = [c for c in difflib.ndiff(before.splitlines(), after.splitlines()) if c[0] in "+-" and c[2:].strip()]
        lines = max(sum(c[0] == sign for c in changes) for sign in "+-")
        theirs, slow = run(before)
        ours, fast = run(after)
        difference = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
        print(f"| {name} | {lines} | {difference:.2g} | {slow:.2g} | {fast:.2g} |")


if __name__ == "__main__":
    main()
