"""Runs tandem and its peers of PyPI on the same data, and writes a table and a chart.

    make compare [SIZE=512] [VIEWS=512] [SLICES=16] [CONE=128] [PEERS=tandem,ASTRA] [LIMIT=90] [WHEELS=DIR]
    make compare BEAMS=fan_vectors,cone_vectors       each view at a place of its own
    python bench/compare/compare.py OUT [--help]      where the packages are, see environment.py

Each peer works on each beam in a process of its own with a time limit. If it crashes or hangs, a line of the table says
so. OUT/compare.json has all findings, compare.md the tables, compare.png and compare.svg the chart.
"""
import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys

import numpy as np

import cases
import peers
import tables

HERE = pathlib.Path(__file__).parent


def has_gpu():
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.startswith("GPU")
    except OSError:
        return False


def options():
    o = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    o.add_argument("out", type=pathlib.Path)
    o.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if has_gpu() else "cpu")
    o.add_argument("--size", type=int, help="pixels along x of parallel and fan (512; on a GPU 1024)")
    o.add_argument("--views", type=int, help="of parallel and fan (as many as pixels along x)")
    o.add_argument("--slices", type=int, help="of the parallel beam (16; on a GPU 128)")
    o.add_argument("--cone", type=int, help="voxels along x of the cone (128; on a GPU 512)")
    o.add_argument("--cone-views", type=int, help="(180; on a GPU 360)")
    o.add_argument("--beams", default="parallel,fan,cone", help="also fan_vectors and cone_vectors, each view anywhere")
    o.add_argument("--peers", default=",".join(p.name for p in peers.PEERS if "," not in p.name),
                   help="names, with commas between; tandem means all of its ways")
    o.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of the CPU, for every peer")
    o.add_argument("--repeat", type=int, default=5)
    o.add_argument("--seconds", type=float, default=6, help="after so many, no further call of an operation begins")
    o.add_argument("--limit", type=float, default=90, help="seconds that a peer has for a beam")
    o.add_argument("--again", action="store_true", help="only write tables and chart of OUT/compare.json anew")
    o.add_argument("--left-out", type=pathlib.Path, help="JSON of environment.py: why a package is not there")
    return o.parse_args()


def chosen_cases(o):
    gpu = o.device == "cuda"
    size = o.size or (1024 if gpu else 512)
    views = o.views or size
    made = {"parallel": cases.parallel(size, o.slices or (128 if gpu else 16), views), "fan": cases.fan(size, views),
            "fan_vectors": cases.fan_vectors(size, views)}
    cone = o.cone or (512 if gpu else 128), o.cone_views or (360 if gpu else 180)
    made |= {"cone": cases.cone(*cone), "cone_vectors": cases.cone_vectors(*cone)}
    return {beam: made[beam] for beam in o.beams.split(",")}


def prepared(case, folder):
    """Writes the input of every peer, and the results that are expected."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.json").write_text(json.dumps(dataclasses.asdict(case)))
    np.save(folder / "volume.npy", cases.exact_volume(case))
    np.save(folder / "data.npy", cases.exact_data(case))


def environment(threads):
    names = ["OMP", "MKL", "OPENBLAS", "NUMBA"]
    return os.environ | {f"{name}_NUM_THREADS": str(threads) for name in names} | {
        "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads), "CUDA_MODULE_LOADING": "LAZY"}


def collected(output):
    """A row of the JSON from the lines that measure.py wrote."""
    row, at = {}, None
    for line in output.splitlines():
        if line.startswith("FOUND "):
            finding = json.loads(line.removeprefix("FOUND "))
            at = finding.get("begins", at)
            if "operation" in finding:
                row[finding.pop("operation")] = finding
                at = None
            elif "failed" in finding:
                row["lacks"][finding["failed"]] = finding["reason"]
                at = None
            elif "begins" not in finding:
                row |= finding
    return row, at


def run(peer, beam, folder, o):
    command = [sys.executable, str(HERE / "measure.py"), peer.name, str(folder / "case.json"), str(folder), o.device,
               str(o.repeat), str(o.seconds)]
    cores = sorted(os.sched_getaffinity(0))[:o.threads]
    child = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(o.threads), start_new_session=True,
                             preexec_fn=lambda: os.sched_setaffinity(0, cores))
    try:
        output, errors = child.communicate(timeout=o.limit)
        last = (errors.strip().splitlines() or [""])[-1].strip()[:200]
        reason = last or f"exit code {child.returncode}" if child.returncode else None
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        output, errors = child.communicate()
        reason = f"stopped after {o.limit:g} s"
    (folder / f"{peer.name.replace(', ', '-')}.log").write_text(output + errors)
    row, at = collected(output)
    if reason and "model" not in row:
        row["not_here"] = reason
    elif reason:
        row.setdefault("lacks", {})[at or "pair"] = reason
    return row


def missing(peer, left_out):
    """Why a package is not there, or None."""
    if peer.package == "tandem":
        return None
    try:
        importlib.metadata.version(peer.package)
    except importlib.metadata.PackageNotFoundError:
        return "it is not installed" + (f": {left_out[peer.package]}" if peer.package in left_out else "")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def machine(o):
    if o.device == "cuda":
        asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "-i", "0"]
        name, driver = subprocess.check_output(asked, text=True).strip().split(", ")
        return name, f"{name}, driver {driver}, beside {processor()}"
    return processor(), processor()


def versions(chosen):
    import tandem
    found = {"tandem": tandem.__version__}
    for package in dict.fromkeys(p.package for p in chosen):
        if package != "tandem" and not missing(peers.Peer(package, ""), {}):
            found[package] = importlib.metadata.version(package)
    return found


def write(found, out):
    (out / "compare.md").write_text(tables.page(found))
    try:
        import chart
    except ImportError as error:
        print(f"compare: no chart, {error}")
    else:
        chart.draw(found, [out / "compare.png", out / "compare.svg"])


def main():
    o = options()
    if o.again:
        return write(json.loads((o.out / "compare.json").read_text()), o.out)
    names = o.peers.split(",")
    chosen = [p for p in peers.PEERS if p.name in names or p.package in names]
    left_out = json.loads(o.left_out.read_text()) if o.left_out and o.left_out.exists() else {}
    short, long = machine(o)
    found = {"date": datetime.date.today().isoformat(), "machine": long, "machine_short": short, "device": o.device,
             "threads": o.threads, "repeat": o.repeat, "load": [os.getloadavg()[0]], "versions": versions(chosen),
             "beams": {}}
    for beam, case in chosen_cases(o).items():
        folder = o.out / beam
        prepared(case, folder)
        rows = {}
        found["beams"][beam] = {"case": case.described(), "size": case.size, "peers": rows}
        for peer in chosen:
            reason = missing(peer, left_out)
            rows[peer.name] = {"not_here": reason} if reason else run(peer, beam, folder, o)
            row = rows[peer.name]
            times = [f"{tables.title(op, beam)} {tables.seconds(row[op]['best_s'])}"
                     for op in tables.TITLES if op in row]
            print(f"{beam}, {peer.name}:", ", ".join(times) or row.get("not_here"), flush=True)
            found["load"][1:] = [os.getloadavg()[0]]
            (o.out / "compare.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    write(found, o.out)


if __name__ == "__main__":
    main()
