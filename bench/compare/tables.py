"""The findings as a page of Markdown."""
import json
import pathlib

TITLES = {"forward": "forward", "back": "back", "reconstruct": {"cone": "FDK", "fan": "FBP", "parallel": "FBP"}}


def title(operation, beam):
    name = TITLES[operation]
    return name if isinstance(name, str) else name.get(beam, "inverse")


def heading(beam):
    """cone: Cone beam; cone_vectors: Cone beam by vectors"""
    kind, _, by = beam.partition("_")
    return f"{kind.capitalize()} beam" + (f" by {by}" if by else "")


def seconds(value):
    if value is None:
        return "–"
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def small(value):
    return "–" if value is None else f"{value:.2g}".replace("e-0", "e-")


def per_slice(row, operation, key, beam):
    """Slices of a parallel beam are work of their own, so packages are compared by one of them."""
    return row[operation][key] / (row["slices"] if beam == "parallel" else 1)


def fastest(rows, operation, beam):
    """Names of the packages that did it, the fastest first."""
    times = {name: per_slice(row, operation, "best_s", beam)
             for name, row in rows.items() if "best_s" in row.get(operation, {})}
    return sorted(times, key=times.get)


def cells(name, row, operation, beam, best):
    found = row[operation]
    time, median, cpu = (seconds(per_slice(row, operation, key, beam)) for key in ("best_s", "median_s", "cpu_s"))
    scale = found.get("scale", 1.0)
    wrong = f", scale {scale:.3g}" if abs(scale - 1) > 0.01 else ""
    return [name, f"**{time}**" if best else time, median, cpu, f"{found['cores']:.1f}", f"{found['peak_mib']:.0f}",
            small(found.get("error")) + wrong, str(row["slices"]), "with" if row.get("transfers") else "without"]


def markdown_table(head, rows):
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines) + "\n"


def operation_table(beam, rows, operation, device):
    names = fastest(rows, operation, beam)
    head = [title(operation, beam), "best", "median", "CPU time", "cores", "MiB", "error", "slices a call", "transfers"]
    lines = [cells(name, rows[name], operation, beam, name == names[0]) for name in names]
    of_no_use = {"transfers"} if device == "cpu" else {"CPU time", "cores"}
    of_no_use |= set() if beam == "parallel" else {"slices a call"}
    shown = [i for i, name in enumerate(head) if name not in of_no_use]
    return markdown_table([head[i] for i in shown], [[line[i] for i in shown] for line in lines]) if lines else ""


def pair_table(rows):
    lines = [[name, row["model"], f"{row['pair']['kappa']:.6g}", small(row["pair"]["strict"]), small(row["pair"]["mu"])]
             for name, row in rows.items() if "mu" in row.get("pair", {})]
    return markdown_table(["pair", "model", "κ", "strict", "μ"], lines) if lines else ""


def reasons(rows, beam):
    """What was not done, a line for each package and reason."""
    said = []
    for name, row in rows.items():
        if "not_here" in row and "," not in name:  # not of a second way of a package
            said.append(f"- {name}: {row['not_here']}.")
        by_reason = {}
        for operation, reason in row.get("lacks", {}).items():
            by_reason.setdefault(reason, []).append(title(operation, beam) if operation in TITLES else operation)
        said += [f"- {name}, {' and '.join(names)}: {reason}." for reason, names in by_reason.items()]
    return "\n".join(said) + "\n" if said else ""


def winners(beam, rows):
    said = []
    for operation in TITLES:
        ahead = fastest(rows, operation, beam)
        ahead = ahead[:next((i for i, name in enumerate(ahead) if name.startswith("tandem")), 0)]
        if ahead:
            verb = "are" if len(ahead) > 1 else "is"
            said.append(f"{title(operation, beam)}: **{' and '.join(ahead)} {verb} faster** than tandem.")
    return " ".join(said) + "\n" if said else ""


def published():
    text = "## Measured earlier: packages that PyPI does not have\n\n"
    for group in json.loads((pathlib.Path(__file__).parent / "published.json").read_text()):
        text += f"{group['case']}; {group['card']}, {group['date']}:\n\n"
        text += markdown_table(["package", "time"], group["rows"]) + "\n"
    return text.rstrip() + "\n"


OF_CPU = ("CPU time: the least, of all threads together; cores: how many were busy.",
          "the process held while it worked")
OF_GPU = ("Arrays lie on the card. With transfers: they come from the host and go back to it in the time.",
          "the card held beyond what it held before")
EXPLAINED = """- Times are for one slice of a parallel beam, else for the whole volume: the best and the median of up to {repeat}
  calls, after one that touches memory and compiles. Bold: the fastest.
- {of_time}
- MiB: the most that {of_memory}.
- Error: relative L2 difference from the closed form. Forward: from the exact line integrals of the phantom, so voxels
  count as well. Back: from the exact sums over views, after the factor that fits best. FBP and FDK: from the means of
  voxels, within 0.95 of the field of view, of a cone in its two middle slices. Scale: so many times too large.
- κ and μ: as in docs/kernels.md, on a smaller scan. Strict: the largest abs(⟨Ax, y⟩ − ⟨x, By⟩) / ⟨Ax, y⟩ of positive
  x and y.
"""


def page(found):
    """found: what compare.py collects, as its JSON has it."""
    cpu = found["device"] == "cpu"
    head = [found["date"], found["machine"], f"{found['threads']} threads",
            f"load {found['load'][0]:.1f} before and {found['load'][-1]:.1f} after"]
    text = "# Packages beside each other\n\n" + ", ".join(head) + ".\n\n"
    text += ", ".join(f"{name} {version}" for name, version in found["versions"].items()) + ".\n\n"
    of_time, of_memory = OF_CPU if cpu else OF_GPU
    text += EXPLAINED.format(repeat=found["repeat"], of_time=of_time, of_memory=of_memory) + "\n"
    for beam, group in found["beams"].items():
        rows = group["peers"]
        parts = [operation_table(beam, rows, operation, found["device"]) for operation in TITLES]
        parts += [pair_table(rows), winners(beam, rows), reasons(rows, beam)]
        text += f"## {heading(beam)}: {group['case']}\n\n" + "\n".join(filter(None, parts)) + "\n"
    return text + published()
