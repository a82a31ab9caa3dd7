"""Installs the packages of requirements.txt, one by one, into an environment of their own. A package without a wheel
for this Python and machine is left out, and FOLDER/left_out.json says why.

    python3 bench/compare/environment.py FOLDER [--only NAME,...] [--carried-wheels DIR]

With --carried-wheels nothing is fetched. All wheels come from DIR, also the wheel of tandem. Packages that they need
and that DIR lacks, such as torch, are taken from this Python. If a wheel wants the cuFFT of CUDA 12, and only CUDA 13
is there, cufft_11.c replaces it.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import sysconfig

HERE = pathlib.Path(__file__).parent


def requirements():
    """The line of each package by its name, in the order of the file."""
    lines = (HERE / "requirements.txt").read_text().splitlines()
    return {re.split("[=<>]", line)[0]: line for line in lines if line and not line.startswith("#")}


def make(folder, carried):
    python = folder / "bin" / "python"
    if python.exists():
        return python
    subprocess.run([sys.executable, "-m", "venv", *(["--without-pip"] if carried else []), folder], check=True)
    if carried:
        site = next(folder.glob("lib/python*/site-packages"))
        (site / "parent.pth").write_text("\n".join({sysconfig.get_path(p) for p in ("purelib", "platlib")}) + "\n")
    return python


def old_cufft(folder):
    """Makes a library with the name of CUDA 12's cuFFT, which ASTRA's wheel looks for beside itself. It passes ASTRA's
    five calls on to the cuFFT of CUDA 13."""
    site = next(folder.glob("lib/python*/site-packages"))
    target = site / "nvidia" / "cufft" / "lib" / "libcufft.so.11"
    if not (site / "astra").exists() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    (target.parent / "versions").write_text("libcufft.so.11 { global: cufft*; local: *; };\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", target, HERE / "cufft_11.c", "-ldl",
                    "-Wl,-soname,libcufft.so.11", f"-Wl,--version-script={target.parent / 'versions'}"], check=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--only", type=lambda names: names.split(","))
    options.add_argument("--carried-wheels", type=pathlib.Path)
    o = options.parse_args()
    python, carried = make(o.folder, o.carried_wheels), o.carried_wheels
    pip = [sys.executable, "-m", "pip", "--python", python] if carried else [python, "-m", "pip"]
    record = o.folder / "left_out.json"
    left_out = json.loads(record.read_text()) if record.exists() else {}

    def install(name, *what):
        done = subprocess.run([*pip, "install", "--quiet", *what], text=True, capture_output=True)
        left_out.pop(name, None)
        if done.returncode:
            left_out[name] = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1].removeprefix("ERROR: ")
        print(f"compare: {name}", "left out: " + left_out[name] if name in left_out else "is there", flush=True)

    if carried:
        for wheel in sorted(carried.glob("*.whl")):
            install(wheel.name.split("-")[0].replace("_", "-"), "--no-index", "--no-deps", wheel)
        if "astra-toolbox" not in left_out:
            old_cufft(o.folder)
    else:
        wanted = requirements()
        for name, requirement in wanted.items():
            if not o.only or name in o.only or name in ("numpy", "matplotlib"):
                install(name, requirement, f"numpy=={wanted['numpy'].split('==')[1]}")
    record.write_text(json.dumps(left_out, indent=1) + "\n")


if __name__ == "__main__":
    main()
