"""One chart of the findings: a bar for each package, by its best time; readable at 400 pixels."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402: after the choice of Agg

import tables  # noqa: E402

OURS, OTHERS = "#1f6feb", "#9aa4b2"
matplotlib.rcParams.update({"font.family": "DejaVu Sans", "font.size": 21, "svg.fonttype": "none"})


def bars_of(found, beam, operations):
    """(name, time of all operations together), shortest first."""
    rows = found["beams"].get(beam, {"peers": {}})["peers"]
    bars = {name: sum(tables.per_slice(row, o, "best_s", beam) for o in operations)
            for name, row in rows.items() if all("best_s" in row.get(o, {}) for o in operations)}
    return sorted(bars.items(), key=lambda bar: bar[1])


def panel(axes, bars, title):
    names, times = zip(*bars)
    colours = [OURS if name.startswith("tandem") else OTHERS for name in names]
    axes.barh(range(len(bars)), times, color=colours, height=0.74)
    axes.set_yticks(range(len(bars)), names)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xlim(min(times) / 3, max(times) * 30)
    for place, time in enumerate(times):
        axes.text(time * 1.15, place, tables.seconds(time), va="center")
    axes.set_title(title, loc="left", fontweight="bold", fontsize=22)
    axes.tick_params(length=0)
    axes.set_xticks([])
    axes.minorticks_off()
    axes.spines[["top", "right", "bottom"]].set_visible(False)


def draw(found, files):
    pair = ["forward", "back"]
    wanted = [("parallel", ["reconstruct"], "FBP, a slice of {}²"), ("parallel", pair, "Forward and back, {}²"),
              ("cone", ["reconstruct"], "FDK of a cone, {}³"), ("cone", pair, "Forward and back, {}³")]
    panels = [(bars_of(found, beam, operations), title.format(found["beams"].get(beam, {}).get("size")))
              for beam, operations, title in wanted]
    panels = [(bars, title) for bars, title in panels if bars]
    if not panels:
        return
    counts = [len(bars) for bars, _ in panels]
    figure, all_axes = plt.subplots(len(panels), 1, figsize=(8, 0.34 * (sum(counts) + 1.5 * len(panels) + 1)), dpi=100,
                                    squeeze=False, gridspec_kw={"height_ratios": counts}, layout="constrained")
    for axes, (bars, title) in zip(all_axes[:, 0], panels):
        panel(axes, bars, title)
    figure.supxlabel(f"best time, logarithmic; {found['machine_short']}, {found['date']}", fontsize=17)
    for file in files:
        figure.savefig(file)
    plt.close(figure)
