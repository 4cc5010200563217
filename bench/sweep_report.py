#!/usr/bin/env python3
"""Runs the kernel sweeps on this machine and writes a page with plots for each.

    sweep_report.py build/release/bench --out bench/results/2026-01-01-some-cpu --machine "some CPU" [--only products|axes|attention] [--brief]

`--out` is the prefix of the pages: <out>-products.md, <out>-axes.md, <out>-attention.md. The machine should be idle otherwise.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import sweep_plots

SHAPES = ["768x2304", "768x768", "768x3072", "3072x768"]
ROUND, CLIFF = 16, 1.1


def rows_of(command):
    run = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def share(row):
    return row["limit_seconds"] / row["seconds"]


def cliffs(points):
    """(size, share, share of the nearest round size) where the latter share is more than 1.1 times the former."""
    shares = dict(points)
    nearest = lambda size: max((size + ROUND // 2) // ROUND, 1) * ROUND
    return [(size, found, shares[nearest(size)]) for size, found in points
            if nearest(size) in shares and found * CLIFF < shares[nearest(size)]]


def machine_line(rows):
    """The range of the rates that the sweeps calibrated, one calibration per sweep."""
    peaks = sorted(row["peak_flops_per_second"] / 1e9 for row in rows)
    reads = sorted(row["read_bytes_per_second"] / 1e9 for row in rows)
    return (f"Calibrated at the beginning of each sweep: {peaks[0]:.0f} to {peaks[-1]:.0f} GFLOP/s, "
            f"{reads[0]:.1f} to {reads[-1]:.1f} GB/s of reading memory.")


def product_panels(programs, brief):
    """Runs all sweeps of products. Returns a list of (title, [(family, rows)])."""
    last, step = (48, 8) if brief else (300, 1)
    sweeps = [("rows", shape, [f"--last={last}", f"--step={step}", f"--first={step}"]) for shape in SHAPES]
    for rows in (8, 128):
        for axis, shape in (("columns", "768x768"), ("depth", "768x768")):
            ends = ["--first=752", "--last=784", "--step=16"] if brief else ["--first=720", "--last=850", "--step=1"]
            sweeps.append((axis, shape, ends + [f"--rows={rows}"]))
    panels = []
    for axis, shape, ends in sweeps:
        depth, columns = shape.split("x")
        swept = {"rows": f"M rows by [{depth},{columns}]", "columns": f"[{depth},N]", "depth": f"[K,{columns}]"}[axis]
        title = swept if axis == "rows" else f"{ends[-1].split('=')[1]} rows by {swept}"
        command = [programs / "sweep_products", "--json", f"--shape={shape}", f"--axis={axis}", *ends]
        packed_and_plain, transposed = rows_of(command), rows_of([*command, "--families=gemm", "--transposed"])
        families = {"packed": [row for row in packed_and_plain if row["family"] == "panel"],
                    "plain": [row for row in packed_and_plain if row["family"] == "gemm"],
                    "plain, transposed": transposed}
        panels.append((title, list(families.items())))
        print(title, file=sys.stderr)
    return panels


def products(programs, out, machine, brief):
    panels = product_panels(programs, brief)
    plot = out.with_name(out.name + "-products.svg")
    points = lambda rows: [(row["size"], share(row)) for row in rows]
    plot.write_text(sweep_plots.over_sizes([(title, [(name, points(rows)) for name, rows in families]) for title, families in panels]))
    lines = [f"# Products over their sizes: {machine}", "",
             "f32, all threads, weights from memory as they are in a model, best times; each beside what the machine allows: its multiply-adds at the peak or reading "
             "the weights at the read limit, whichever takes longer. Packed: weights in panels, as compiled programs keep them. Plain: [K,N] as stored. "
             "Plain, transposed: [N,K] as stored.", machine_line([rows[0] for _, families in panels for _, rows in families if rows]), "",
             f"A cliff is a size whose share is below that of the nearest multiple of {ROUND} by more than a tenth.", "", f"![shares of the limit]({plot.name})", "",
             "| sweep | weights | least share | median | most | cliffs |", "|---|---|---:|---:|---:|---|"]
    for title, families in panels:
        for name, rows in families:
            shares, fallen = [share(row) for row in rows], cliffs(points(rows))
            named = ", ".join(f"{size} ({found:.2f}, {nearby:.2f})" for size, found, nearby in fallen[:12])
            more = f" and {len(fallen) - 12} more" if len(fallen) > 12 else ""
            lines.append(f"| {title} | {name} | {min(shares):.2f} | {statistics.median(shares):.2f} | {max(shares):.2f} | {named or 'none'}{more} |")
    lines += ["", "Shares by number of rows, least and median of the four shapes:", "", "| M | packed | plain | plain, transposed |", "|---|---:|---:|---:|"]
    by_rows = [families for title, families in panels if title.startswith("M rows")]
    for first, last in ((1, 1), (2, 4), (5, 12), (13, 32), (33, 64), (65, 128), (129, 300)):
        cells = []
        for at in range(3):
            shares = [share(row) for families in by_rows for row in families[at][1] if first <= row["size"] <= last]
            cells.append(f"{min(shares):.2f}, {statistics.median(shares):.2f}" if shares else "-")
        lines.append(f"| {first if first == last else f'{first} to {last}'} | " + " | ".join(cells) + " |")
    out.with_name(out.name + "-products.md").write_text("\n".join(lines) + "\n")


def grouped_page(out, kind, title, about, rows, name_of, group_of, ratio_of, time_of):
    """Writes a page of grouped cases: a plot, a table of groups, and the cases that take more than three times their limit."""
    groups = {}
    for row in rows:
        groups.setdefault(group_of(row), []).append(row)
    plot = out.with_name(f"{out.name}-{kind}.svg")
    plot.write_text(sweep_plots.in_groups([(name, [ratio_of(row) for row in each]) for name, each in groups.items()]))
    above = sorted((row for row in rows if ratio_of(row) > 3), key=ratio_of, reverse=True)
    lines = [f"# {title}", "", about, "", f"{len(rows) - len(above)} of {len(rows)} take at most 3 times their limit.", "", f"![times the limit]({plot.name})", "",
             "| group | cases | least | median | most |", "|---|---:|---:|---:|---:|"]
    for name, each in groups.items():
        ratios = [ratio_of(row) for row in each]
        lines.append(f"| {name} | {len(each)} | {min(ratios):.2f} | {statistics.median(ratios):.2f} | {max(ratios):.2f} |")
    if above:
        lines += ["", "Above 3 times:", "", "| case | threads | kernel | us | times its limit |", "|---|---:|---|---:|---:|"]
        lines += [f"| {name_of(row)} | {row['threads']} | {row['kernel']} | {1e6 * time_of(row):.1f} | {ratio_of(row):.1f} |" for row in above]
    out.with_name(f"{out.name}-{kind}.md").write_text("\n".join(lines) + "\n")


def axes(programs, out, machine, brief):
    rows = rows_of([programs / "sweep_axes", "--json", *(["--group=softmax"] if brief else [])])
    grouped_page(out, "axes", f"Everything that is neither a product nor attention: {machine}",
                 "One and two threads, best times of the first kernel that takes the problem, beside a copy of as many bytes in the same run, or its operations at the "
                 "machine's peak, whichever takes longer.", [row for row in rows if row["kernel"]],
                 lambda row: f"`{row['problem'].replace('|', ',')}`", lambda row: row["group"], lambda row: row["seconds"] / row["limit_seconds"],
                 lambda row: row["seconds"])


def attention(programs, out, machine, brief):
    rows = rows_of([programs / "sweep_attention", "--json", *(["--only=1x2048"] if brief else [])])
    grouped_page(out, "attention", f"Attention: {machine}",
                 "One and all threads, medians, beside the multiply-adds of the pairs that are seen at the machine's peak, or reading keys and values from memory or cache, "
                 "whichever takes longer.", rows, lambda row: row["case"], lambda row: row["case"].split()[0], lambda row: 1 / row["share_of_limit"],
                 lambda row: row["seconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder of the benchmarks")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--machine", default="a machine", help="the CPU in the titles")
    parser.add_argument("--only", choices=["products", "axes", "attention"])
    parser.add_argument("--brief", action="store_true", help="a few sizes: only tests that the pages can be written")
    args = parser.parse_args()
    for page in (products, axes, attention):
        if args.only in (None, page.__name__):
            page(args.programs, args.out, args.machine, args.brief)


if __name__ == "__main__":
    main()
