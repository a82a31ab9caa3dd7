"""The speed of several GPUs of one host beside one: a table, a plot, and the reports of `tandem bench`.

    python bench/gpus.py FOLDER [--tandem PROGRAM] [--devices 1,2,4] [--cases cone,fdk] [--size 1024] [--device cpu]
        [--ranks "mpirun -n {} build/cuda/bench_ranks"] [--draw]

Writes one JSON file of each case into FOLDER, and gpus.png. Cases that FOLDER holds already are not measured again;
--draw measures none. Tiles have twice --size voxels along each side and as many views.
"""
import argparse
import json
import pathlib
import shlex
import subprocess

# case: (options of `tandem bench` for N voxels along each side, direction of a row: (name of the line, wanted on 4 and 8))
CASES = {
    "cone": (lambda n: f"solvers --geometry cone --size {n} --views {n} --methods cgls,sirt,tv --repeat 3",
             {"cgls step": ("step of CGLS", (3.7, 7.0)), "sirt step": ("step of SIRT", (3.7, 7.0)),
              "tv step": ("step of TV", (3.7, 7.0))}),
    "tiles": (lambda n: f"cone --streamed --size {2 * n} --views {2 * n} --repeat 1",
              {"forward, streamed": ("projection in tiles", (3.8, 7.4)),
               "back, streamed": ("back-projection in tiles", (3.8, 7.4))}),
    "fdk": (lambda n: f"pipeline --geometry cone --from host --to host --size {n} --views {n} --repeat 3",
            {"host to host": ("FDK, host to host", (3.2, 5.0))}),
    "fbp": (lambda n: f"pipeline --from host --to host --size {2 * n} --views {2 * n} --slices {2 * n} --repeat 3",
            {"host to host": ("FBP, host to host", ())}),
    "files": (lambda n: f"pipeline --to .tif --dtype float16 --size {2 * n} --views {2 * n} --slices {2 * n} --repeat 3",
              {"file to .tif": ("FBP, file to files of TIFF", ())}),
}


def measure(asked, case, counts):
    """The rows of one case, measured from the largest count down."""
    file = asked.folder / f"{case}.json"
    if not file.exists() and not asked.draw:
        options = CASES[case][0](asked.size)
        words = [asked.tandem, "bench", *options.split(), "--device", asked.device, "--json", str(file), "--overwrite",
                 "--devices", ",".join(map(str, sorted(counts, reverse=True)))]
        print(" ".join(words), flush=True)
        subprocess.run(words, check=True)
    return json.loads(file.read_text())["rows"] if file.exists() else []


def measure_ranks(asked, counts):
    """Milliseconds of a step of CGLS over ranks with one GPU each, by the number of ranks."""
    file = asked.folder / "ranks.json"
    if not file.exists() and asked.ranks and not asked.draw:
        rows = []
        for count in counts:
            words = [*shlex.split(asked.ranks.format(count)), str(asked.size), str(asked.size), "0", "3"]
            print(" ".join(words), flush=True)
            lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
            rows.append(json.loads(lines[-1]))
        file.write_text(json.dumps(rows, indent=1))
    rows = json.loads(file.read_text()) if file.exists() else []
    return {row["ranks"]: row["cgls_step_ms"] for row in rows}


def lines_of(asked, counts):
    """(name, wanted on 4 and 8, milliseconds by the number of GPUs) of each line of the table."""
    for case in asked.cases:
        rows = measure(asked, case, counts)
        for direction, (name, wanted) in CASES[case][1].items():
            times = {row["devices"]: row["ms"] for row in rows if row["direction"] == direction}
            if times:
                yield name, wanted, times
    times = measure_ranks(asked, counts)
    if times:
        yield "step of CGLS over ranks", (3.7, 7.0), times


def table(lines, counts):
    yield "| ms | " + " | ".join(f"{n} GPUs" if n > 1 else "1 GPU" for n in counts) + " | speed-up | wanted on 4, 8 |"
    yield "| --- " * (len(counts) + 3) + "|"
    for name, wanted, times in lines:
        most = max(times)
        speed_up = f"{times[1] / times[most]:.2f} on {most}" if 1 in times and most > 1 else ""
        cells = [f"{times[n]:.0f}" if n in times else "" for n in counts]
        yield f"| {name} | " + " | ".join(cells) + f" | {speed_up} | {', '.join(map(str, wanted))} |"


def draw(lines, counts, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 6), dpi=100, layout="constrained")
    axes.plot(counts, counts, color="#9aa4b2", linestyle="--", label="ideal")
    for marker, (name, _, times) in zip("osD^v<>Pph", (line for line in lines if 1 in line[2])):
        known = sorted(times)
        axes.plot(known, [times[1] / times[n] for n in known], marker=marker, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(matplotlib.ticker.FixedLocator(counts))
        axis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
    axes.set_xlabel("GPUs")
    axes.set_ylabel("times as fast as one")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tandem", default="tandem")
    parser.add_argument("--devices", default="1,2,4", help="numbers of GPUs")
    parser.add_argument("--cases", default=",".join(CASES), help="some of " + ", ".join(CASES))
    parser.add_argument("--size", type=int, default=1024, help="voxels along each side of a cone")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--ranks", help="command of bench_ranks; {} stands for the number of ranks")
    parser.add_argument("--draw", action="store_true", help="measure nothing; draw what FOLDER holds")
    asked = parser.parse_args()
    asked.cases = asked.cases.split(",")
    for case in asked.cases:
        if case not in CASES:
            parser.error(f"--cases: '{case}' is none of {', '.join(CASES)}")
    counts = sorted({int(n) for n in asked.devices.split(",")})
    asked.folder.mkdir(parents=True, exist_ok=True)
    lines = list(lines_of(asked, counts))
    print("\n".join(table(lines, counts)))
    draw(lines, counts, asked.folder / "gpus.png")


main()
