"""How the cost of a cone beam grows with N, for N^3 voxels from N views, by groups of views and by footprints.

    python bench/growth.py FILE... [--picture PICTURE]       draws what reports of `tandem bench cone` hold, and a table
    python bench/growth.py --measure NAME [--tandem PROGRAM] [--device cpu] [--threads 1] [--repeat 3] [--sizes N,N,...]

--measure writes NAME-N-MODEL.json of each size and model; what is there already is not measured again. A case that
fails, as where memory is too small, is a line that says so, and the others go on. A CPU is compared by the least CPU
time of its runs, all threads together, since other programs lengthen it less than the clock on the wall; a GPU by the
median on that clock, data on the card.

A FILE is such a report, --keep's file of all of them, or a file of bench/results, whose result `growth` is drawn. The
figures of docs/performance.md, and how those of a GPU come beside them:

    python bench/growth.py --tandem build/cuda/tandem --measure out/h200 --device cuda
    python bench/growth.py out/h200-*.json --keep out/growth.json
    python bench/merge.py bench/results/h200.json out/growth.json --command "python bench/growth.py --measure"
    python bench/growth.py bench/results/{epyc,h100,h200}.json --picture docs/pictures/growth.png
"""
import argparse
import json
import pathlib
import subprocess

MODELS = {"separable_footprint": "footprints", "hierarchical": "groups of views"}
DIRECTIONS = ("back", "forward", "FDK")
SIZES = {"cpu": "64,96,128,192,256", "cuda": "256,384,512,768,1024,1536,2048"}


def measure(asked):
    asked.measure.parent.mkdir(parents=True, exist_ok=True)
    for size in (asked.sizes or SIZES[asked.device.split(":")[0]]).split(","):
        for model in MODELS:
            file = asked.measure.with_name(f"{asked.measure.name}-{size}-{model}.json")
            if file.exists():
                continue
            words = [asked.tandem, "bench", "cone", "--size", size, "--views", size, "--variant", model, "--device",
                     asked.device, "--threads", str(asked.threads), "--repeat", str(asked.repeat), "--quiet", "--json",
                     str(file)]
            print(" ".join(words), flush=True)
            if subprocess.run(words).returncode != 0:
                print(f"growth: {size}, {model}: not measured", flush=True)


def reports_of(files):
    """Reports of `tandem bench cone`, each as it is or as the result `growth` of a machine."""
    for file in files:
        report = json.loads(file.read_text())
        yield from (result for result in report.get("results", [{**report, "name": "growth"}]) if result["name"] == "growth")


def curves_of(reports):
    """{(machine, model): {direction: {N: row}}}, rows with their `seconds`."""
    curves = {}
    for report in reports:
        for row in report["rows"]:
            if row["variant"] not in MODELS or row["direction"] not in DIRECTIONS or row["views"] != row["size"]:
                continue
            row["seconds"] = row.get("cpu_ms", row["ms"]) / 1e3
            curves.setdefault((report["device"], row["variant"]), {}).setdefault(row["direction"], {})[row["size"]] = row
    return curves


def table(curves):
    """Seconds of a machine's models, direction by direction."""
    for machine in dict.fromkeys(machine for machine, _ in curves):
        own = {model: by_direction for (where, model), by_direction in curves.items() if where == machine}
        sizes = sorted({n for by in own.values() for rows in by.values() for n in rows})
        yield f"{machine}:\n"
        yield "| seconds | " + " | ".join(f"{n}³" for n in sizes) + " |"
        yield "| --- " * (len(sizes) + 1) + "|"
        for direction in DIRECTIONS:
            for model, name in MODELS.items():
                rows = own.get(model, {}).get(direction, {})
                cells = [f"{rows[n]['seconds']:.3g}" if n in rows else "" for n in sizes]
                yield f"| {direction}, {name} | " + " | ".join(cells) + " |"
        errors = own.get("hierarchical", {}).get("back", {})
        cells = [f"{errors[n]['relative_error']:.1e}" if n in errors else "" for n in sizes]
        yield "| error of groups | " + " | ".join(cells) + " |\n"


def draw(curves, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(12, 4.6), dpi=80, layout="constrained", sharey=True)
    machines = list(dict.fromkeys(machine for machine, _ in curves))
    colours = {"separable_footprint": "#9aa4b2", "hierarchical": "#1f6feb"}
    for axes, direction in zip(panels, DIRECTIONS):
        sizes = set()
        for (machine, model), by_direction in curves.items():
            rows = by_direction.get(direction, {})
            known = sorted(rows)
            sizes.update(known)
            label = MODELS[model] + (f", {machine.split(',')[0]}" if len(machines) > 1 else "")
            marker = "osD^v"[machines.index(machine) % 5]
            axes.plot(known, [rows[n]["seconds"] for n in known], marker=marker, color=colours[model], label=label)
            if known:
                power = 4 if model == "separable_footprint" else 3
                first, last = known[0], known[-1]  # through the largest case, where margins count least
                grows = [rows[last]["seconds"] * (n / last) ** power for n in (first, last)]
                axes.plot((first, last), grows, color=colours[model], linestyle=":",
                          label=f"as N{'³' if power == 3 else '⁴'}" if machine == machines[0] else None)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(matplotlib.ticker.FixedLocator(sorted(sizes)))
        axes.xaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
        axes.minorticks_off()
        axes.set_title(direction)
        axes.set_xlabel("N")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("seconds")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="one file of all reports, for bench/merge.py")
    parser.add_argument("--measure", type=pathlib.Path, help="begin of the names of files that are measured")
    parser.add_argument("--tandem", default="tandem")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sizes", help="N,N,...")
    asked = parser.parse_args()
    if bool(asked.files) == bool(asked.measure):
        parser.error("name the files to draw, or what to --measure")
    if asked.measure:
        return measure(asked)
    reports = list(reports_of(asked.files))
    if asked.keep:  # all from one machine
        asked.keep.write_text(json.dumps({**reports[0], "rows": [row for report in reports for row in report["rows"]]}))
    curves = curves_of(reports)
    print("\n".join(table(curves)))
    if asked.picture:
        draw(curves, asked.picture)


main()
