#!/usr/bin/env python3
"""The table of docs/kernels/one_picture.md: bench/pictures.py PROGRAM [--device cuda] [--sizes 128,256]

RMSE within the disc, noise (standard deviation in a picture of white noise, times the root of the number of views)
and PSNR over the square, of modified Shepp-Logan, as a table in Markdown. With --json, the rows that `tandem bench
pictures` gives.
"""
import argparse
import json
import subprocess


def rows_of(program, size, geometry, rest):
    command = [program, "bench", "pictures", "--quiet", "--repeat", "1", "--size", str(size), "--geometry", geometry,
               "--json", "-", *rest]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["rows"]


def name_of(row):
    return row["model"] if row["variant"] in ("standard", "fourier") else f"{row['model']} ({row['variant']})"


def table(rows, sizes):
    print("| window | model | " + " | ".join(f"{n}" for n in sizes) + " |")
    print("| --- | --- |" + " --- |" * len(sizes))
    lines = {}
    for row in rows:
        lines.setdefault((row["window"], name_of(row)), {})[row["size"]] = row
    for (window, model), by_size in lines.items():
        cells = [f"{r['rmse_disc']:.4f}, {r['noise']:.3f}, {r['psnr']:.1f}" for r in (by_size[n] for n in sizes)]
        print(f"| `{window}` | {model} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--sizes", default="128,256,512,1024")
    parser.add_argument("--geometry", default="parallel", choices=["parallel", "fan"])
    parser.add_argument("--json", action="store_true")
    o, rest = parser.parse_known_args()
    sizes = [int(n) for n in o.sizes.split(",")]
    rows = [row for n in sizes for row in rows_of(o.program, n, o.geometry, rest)]
    if o.json:
        print(json.dumps(rows, indent=1))
    else:
        table(rows, sizes)


if __name__ == "__main__":
    main()
