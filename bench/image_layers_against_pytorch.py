"""Compares layers of image networks in Cairn and in PyTorch, timed in alternation; the best time of a few turns counts.

    image_layers_against_pytorch.py build/release/bench/image_layers [--threads N] [--turns N] [--seconds PER_TURN] [--group WORD]
                   [--rows rows.json] [--page results.md --machine "AMD EPYC (family 26, model 2)"]

Needs torch. --page writes a page and a plot of the same name. With --rows, results are merged with those of earlier runs,
for example of one group each.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import time

import torch
import torch.nn.functional as F


def layer_of(name):
    """A function that runs in PyTorch the layer that image_layers calls `name`."""
    size = int(re.search(r"@(\d+)", name)[1])
    kernel = int((re.search(r"(\d)x\d", name) or [0, 3])[1])
    stride = 2 if " s2 " in name else 1
    if name.startswith("pool"):
        batch, channels = 8, int(re.search(r" (\d+) @", name)[1])
        if "global" in name:
            batch, kernel = (1 if channels == 1280 else 8), size
        x = torch.randn(batch, channels, size, size)
        if name.endswith("f16"):
            x = x.half()
        padding = 1 if kernel == 3 else 0
        if "global avg" in name:
            return lambda: F.adaptive_avg_pool2d(x, 1)
        if "max" in name:
            return lambda: F.max_pool2d(x, kernel, stride if "global" not in name else None, padding)
        counts = "padding counts" in name
        return lambda: F.avg_pool2d(x, kernel, stride, padding, count_include_pad=counts)
    groups = int((re.search(r"in (\d+) groups", name) or [0, 1])[1])
    dilation = 2 if " d2 " in name else 1
    between = re.search(r"(\d+)>(\d+)", name)
    if between:
        channels, filters = int(between[1]), int(between[2])
    else:
        channels = filters = int(re.search(r" (\d+) @", name)[1])
    if "depthwise" in name:
        groups = channels
    x = torch.randn(8 if name.endswith("b8") else 1, channels, size, size)
    w, b = torch.randn(filters, channels // groups, kernel, kernel), torch.randn(filters)
    padding = dilation * (kernel // 2)
    if name.startswith("block"):
        mean, variance, gamma = torch.randn(filters), torch.ones(filters), torch.randn(filters)
        return lambda: F.relu(F.batch_norm(F.conv2d(x, w, None, stride, padding, dilation, groups), mean, variance,
                                           gamma, b))
    return lambda: F.conv2d(x, w, b, stride, padding, dilation, groups)


def best_of(run, seconds):
    run()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begin)
    return best


def rows_of(args):
    command = [args.program, "--json", "--wait", f"--threads={args.threads}", f"--turns={args.turns}",
               f"--seconds={args.seconds}"] + (["--group", args.group] if args.group else [])
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def turn():
        try:
            program.stdin.write("\n")
            program.stdin.flush()
        except BrokenPipeError:
            return None
        line = program.stdout.readline()
        return json.loads(line) if line else None

    rates, rows, layer = json.loads(program.stdout.readline()), [], None
    while True:
        here = turn()
        if here is None:
            return rates, rows
        if layer != here["layer"]:
            layer, theirs = here["layer"], layer_of(here["layer"])
            rows.append({"layer": layer, "torch": float("inf")})
        rows[-1].update(here=here["seconds"], flops=here["flops"], bytes=here["bytes"], kernels=here["kernels"])
        rows[-1]["torch"] = min(rows[-1]["torch"], best_of(theirs, args.seconds))


def plot_of(rows):
    """SVG bar chart of PyTorch's time divided by Cairn's. Bars start at 1, on a log2 axis from 1/4 to 16."""
    height, left, unit = 14, 290, 60
    x = lambda ratio: left + (math.log2(min(max(ratio, 0.25), 16)) + 2) * unit
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 7 * unit}" height="{(len(rows) + 2) * height}" '
           'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>']
    for power in range(-2, 5):
        at = left + (power + 2) * unit
        out.append(f'<line x1="{at}" x2="{at}" y1="{height}" y2="{(len(rows) + 1.3) * height}" stroke="#ddd"/>'
                   f'<text x="{at}" y="10" text-anchor="middle">{2.0 ** power:g}</text>')
    for i, row in enumerate(rows):
        ratio, y = row["torch"] / row["here"], (i + 1.2) * height
        low, high = sorted((x(1), x(ratio)))
        color = "#2a7" if ratio >= 1 else "#c33"
        out.append(f'<text x="{left - 8}" y="{y + 9}" text-anchor="end">{row["layer"].replace(">", "&gt;")}</text>'
                   f'<rect x="{low:.1f}" y="{y:.1f}" width="{max(high - low, 1):.1f}" height="{height - 4}" fill="{color}"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def page_of(rates, rows, plot, machine):
    ratios = [row["torch"] / row["here"] for row in rows]
    lines = [f"# Image layers beside PyTorch: {machine}", "",
             f'{rates["threads"]} threads, f32 where nothing else is said, batch 1 (pools: 8), NCHW, PyTorch {torch.__version__} eager, '
             f'no gradients; best of turns. Calibrated: {rates["flops"] / 1e9:.0f} GFLOP/s, '
             f'{rates["bandwidth"] / 1e9:.1f} GB/s of memory, noise {rates["noise"]:.3f}.', "",
             f'{sum(ratio >= 1 for ratio in ratios)} of {len(rows)} layers take no longer than PyTorch. '
             'PyTorch/here above 1: faster here.', "", f"![ratios]({plot})", "",
             "| layer | here, us | PyTorch, us | PyTorch/here | GFLOP/s here |", "|---|---:|---:|---:|---:|"]
    for row, ratio in zip(rows, ratios):
        rate = f'{row["flops"] / row["here"] / 1e9:.0f}' if row["flops"] else "-"
        shown = f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}"
        lines.append(f'| {row["layer"]} | {1e6 * row["here"]:.1f} | {1e6 * row["torch"]:.1f} | {shown} | {rate} |')
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--group", default="")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--machine", default="a machine", help="the CPU in the title of the page")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.set_grad_enabled(False)
    rates, rows = rows_of(args)
    if args.rows:
        earlier = json.loads(args.rows.read_text()) if args.rows.exists() else {"rates": rates, "rows": []}
        new = {row["layer"] for row in rows}
        rates, rows = earlier["rates"], [row for row in earlier["rows"] if row["layer"] not in new] + rows
        args.rows.write_text(json.dumps({"rates": rates, "rows": rows}))
    print(f'{rates["threads"]} threads, {rates["flops"] / 1e9:.0f} GF/s, {rates["bandwidth"] / 1e9:.1f} GB/s')
    for row in rows:
        print(f'{row["layer"]:42s} {1e6 * row["here"]:9.1f} us  torch {1e6 * row["torch"]:9.1f} us  '
              f'{row["torch"] / row["here"]:6.2f}  {row["kernels"]}', flush=True)
    if args.page:
        plot = args.page.with_suffix(".svg")
        plot.write_text(plot_of(rows))
        args.page.write_text(page_of(rates, rows, plot.name, args.machine))


if __name__ == "__main__":
    main()
