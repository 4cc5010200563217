#!/usr/bin/env python3
"""Sweeps the tolerance of a model: time, stated and measured error of each program, as a page with a plot.

    sweep_tolerance.py build/release/bench --out bench/results/2026-01-01-some-cpu-tolerance --machine "some CPU"
        [--model gpt2] [--work prefill] [--length 128] [--batch 1] [--db FILE] [--turns 3] [--brief]

Each tolerance is compiled twice from a copy of the database before it is timed: the first run is verified, and what it
measured scales the budget of the second compile. Then all tolerances are timed in turns. The machine should be idle
otherwise.
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import tempfile

import sweep_plots

TOLERANCES = ["1e-6", "1e-5", "1e-4", "3e-4", "1e-3", "3e-3", "1e-2", "3e-2", "1e-1"]


def run(options, database, tolerance, iterations):
    command = [options.programs / "model_bench", "--json", "--model", options.model, "--work", options.work, "--length",
               options.length, "--batch", options.batch, "--db", database, "--iterations", iterations]
    if options.synthetic:
        command.append("--synthetic")
    if tolerance is not None:
        command += ["--tolerance", tolerance]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def worst(row, field):
    """The largest error of all results of the bucket that was run."""
    return max((each[field] for each in row.get("verified", [])), default=0.0)


def measure(options):
    """The rows of all tolerances, `None` (exact) first: the best time of all turns, figures of the last."""
    tolerances = [None] + (TOLERANCES[::4] if options.brief else TOLERANCES)
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder) / "timings.db"
        if options.db:
            shutil.copy(options.db, database)
        first = {tolerance: run(options, database, tolerance, 1) for tolerance in tolerances}
        rows = {}
        for _ in range(options.turns):
            for tolerance in tolerances:
                row = run(options, database, tolerance, options.iterations)
                row["best_ns"] = min(row["best_ns"], rows[tolerance]["best_ns"]) if tolerance in rows else row["best_ns"]
                row["first"] = first[tolerance]
                rows[tolerance] = row
    return list(rows.items())


def families_text(row):
    """The families of products in integers or bf16 parts, with their numbers of instructions."""
    named = {name: count for name, count in row["families"].items() if any(part in name for part in ("_i8", "_i16", "_bf16", "tensor"))}
    return ", ".join(f"{count} {name}" for name, count in sorted(named.items())) or "-"


def number(value):
    return f"{value:.1e}" if value else "-"


def table(rows):
    exact = rows[0][1]["best_ns"]
    lines = ["| tolerance | stated | first start | measured | error of the logits | best ms | time by exact | kernels by class |",
             "|---|---|---|---|---|---|---|---|"]
    for tolerance, row in rows:
        fell = " (fell back)" if any(each["fell_back"] for each in row.get("verified", [])) else ""
        lines.append(f"| {tolerance or 'exact'} | {number(worst(row, 'promised'))} | {number(worst(row['first'], 'promised'))} | "
                     f"{number(worst(row, 'measured'))}{fell} | {number(row['error'])} | {row['best_ns'] / 1e6:.2f} | "
                     f"{row['best_ns'] / exact:.2f} | {families_text(row)} |")
    return "\n".join(lines)


def plot(title, rows):
    exact = rows[0][1]["best_ns"]
    inexact = [(float(tolerance), row) for tolerance, row in rows if tolerance is not None]
    errors = [("tolerance", [(each, each) for each, _ in inexact]),
              ("stated", [(each, worst(row, "promised")) for each, row in inexact]),
              ("measured in the first run", [(each, worst(row, "measured")) for each, row in inexact])]
    times = [("time by that of the exact program", [(each, row["best_ns"] / exact) for each, row in inexact])]
    return sweep_plots.over_tolerances(title, errors, times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=pathlib.Path, help="folder of model_bench")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="prefix of the page and the plot")
    parser.add_argument("--machine", required=True)
    parser.add_argument("--model", default="gpt2")
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--work", default="prefill")
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--db", type=pathlib.Path, help="timing database to begin with")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--brief", action="store_true", help="three tolerances, for a test of the script")
    options = parser.parse_args()
    rows = measure(options)
    work = f"{options.model}{' synthetic' if options.synthetic else ''}, {options.work}, {options.length} tokens, batch of {options.batch}"
    picture = options.out.with_suffix(".svg")
    picture.write_text(plot(work, rows))
    options.out.with_suffix(".md").write_text(
        f"# Time and error over the tolerance: {options.machine}\n\n{work}; {rows[0][1]['threads']} threads. Errors are relative (Tolerance); "
        "*stated* is the combined error of the program's kernels after the second start, *measured* what its first run differed from the exact "
        f"program. Best of {options.turns} turns.\n\n{table(rows)}\n\n![errors and times]({picture.name})\n")


if __name__ == "__main__":
    main()
