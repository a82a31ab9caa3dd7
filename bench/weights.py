#!/usr/bin/env python3
"""How near the weight that tv finds is to the best one, with scans as models have them and with others: weights.py

A table in Markdown, of simulated scans: the weight over the best one, the error to the truth over the least one, and by
how many dB tv is better than the best of FBP. Counts are those of Poisson's law. `hardened`: two energies, one
attenuated twice as much as the other. `blurred`: by a Gaussian of one cell. `flats`: wrong by 2 % in each cell, alike
in all views. PYTHONPATH names the folder of the package.
"""
import warnings

import numpy as np
import tandem

warnings.simplefilter("ignore", tandem.RunWarning)  # rays without light

FACTORS = 2.0 ** (np.arange(-6, 7) / 2)
WINDOWS = [(window, cut) for window in ("ramp", "hann", "parzen") for cut in (1, 0.7, 0.5, 0.35)]
SIZE = 128
SCANS = {  # phantom, beam, views, photons, flaw
    "slice": ("shepp_logan", "parallel", 120, 1e4, None),
    "slice, few photons": ("ellipsoids", "parallel", 90, 300, None),
    "slice, many photons": ("shepp_logan", "parallel", 200, 1e5, None),
    "slice, 40 views": ("shepp_logan", "parallel", 40, 1e5, None),
    "foam": ("foam", "parallel", 180, 5e3, None),
    "foam, 40 views": ("foam", "parallel", 40, 1e5, None),
    "foam, hardened": ("foam", "parallel", 180, 5e3, "hardened"),
    "fan": ("ellipsoids", "fan", 180, 1e4, None),
    "fan, hardened": ("ellipsoids", "fan", 180, 5e3, "hardened"),
    "fan, blurred": ("ellipsoids", "fan", 180, 5e3, "blurred"),
    "fan, flats": ("ellipsoids", "fan", 180, 5e3, "flats"),
    "slice, hardened": ("shepp_logan", "parallel", 120, 1e4, "hardened"),
    "slice, blurred": ("shepp_logan", "parallel", 120, 1e4, "blurred"),
    "slice, flats": ("shepp_logan", "parallel", 120, 1e4, "flats"),
    "cone": ("ellipsoids", "cone", 90, 1e4, None),
    "cone, few photons": ("ellipsoids", "cone", 60, 1e3, None),
}


def geometry(beam, views):
    turn = np.pi if beam == "parallel" else 2 * np.pi
    angles = np.linspace(0, turn, views, endpoint=False)
    if beam == "parallel":
        return tandem.ParallelBeam(tandem.Detector(SIZE), angles)
    if beam == "fan":
        return tandem.FanBeam(tandem.Detector(5 * SIZE // 4, bin_pitch=1.5), angles, 4 * SIZE, 6 * SIZE)
    side = SIZE // 2
    return tandem.ConeBeam(tandem.Detector(5 * side // 4, side, bin_pitch=1.5, row_pitch=1.5), angles, 4 * side, 6 * side)


def counts_of(lines, photons, flaw, random):
    if flaw == "hardened":
        lines = -np.log(0.5 * np.exp(-4 / 3 * lines) + 0.5 * np.exp(-2 / 3 * lines))
    light = np.exp(-lines)
    if flaw == "blurred":
        hat = np.exp(-0.5 * np.arange(-4, 5) ** 2)
        light = np.apply_along_axis(lambda row: np.convolve(np.pad(row, 4, "edge"), hat / hat.sum(), "valid"), 2, light)
    if flaw == "flats":
        light = light * (1 + 0.02 * random.standard_normal(light.shape[1:]))
    return random.poisson(photons * light).astype(np.float32)


def made(scan, counts, photons, **how):
    flats = np.full((1, *counts.shape[1:]), photons, np.float32)
    return tandem.reconstruct(counts, scan=scan, flats=flats, progress=False, **how)


def row(name, phantom, beam, views, photons, flaw):
    scan = geometry(beam, views)
    size = SIZE if beam != "cone" else SIZE // 2
    body = getattr(tandem, phantom)().scaled(0.48 * size, 4 / size)
    counts = counts_of(np.asarray(tandem.project(body, scan)), photons, flaw, np.random.default_rng(1))
    first = made(scan, counts, photons, method="tv")
    truth = np.asarray(tandem.voxelise(body, tandem.fitting_grid(scan)))

    def error(volume):
        return float(np.sqrt(np.mean((np.asarray(volume) - truth) ** 2)))
    found = first.report["tv_weight"]
    errors = [error(made(scan, counts, photons, method="tv", tv_weight=found * factor).volume) for factor in FACTORS]
    least, best = min(zip(errors, FACTORS))
    fbp = min(error(made(scan, counts, photons, fbp_filter=window, fbp_cutoff=cut).volume) for window, cut in WINDOWS)
    ours = error(first.volume)
    print(f"| {name} | {1 / best:.2f} | {ours / min(least, ours):.2f} | {20 * np.log10(fbp / ours):.1f} |", flush=True)


print("| scan | weight over the best | error over the least | dB above FBP |\n| --- | --- | --- | --- |")
for name, scan in SCANS.items():
    row(name, *scan)
