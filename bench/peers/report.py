"""Writes a results page and its plot to bench/results, and the newest results into README.md."""
import platform
import re
import statistics
import time
from xml.sax.saxutils import escape

import workloads

BEGIN, END = "<!-- speed: written by bench/peers/run.py -->", "<!-- end of speed -->"


def machine():
    """Name of the first CPU of /proc/cpuinfo, and a slug of it for file names."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        first = dict(re.split(r"\s*:\s*", line.strip(), maxsplit=1) for line in file.read().split("\n\n")[0].splitlines() if ":" in line)
    name, family, model = first.get("model name", platform.machine()), first.get("cpu family", "?"), first.get("model", "?")
    slug = re.sub(r"[^a-z0-9]+", "-", f"{name} f{family} m{model}".lower()).strip("-")
    return f"{name} (family {family}, model {model})", slug


class Found:
    """Results of one engine on one workload over all rounds; milliseconds and MiB."""

    def __init__(self, rows, precision):
        self.largest_error = workloads.PRECISIONS[precision].largest_error
        self.failed = next((row["failed"] for row in rows if "failed" in row), None)
        good = [row for row in rows if "failed" not in row]
        if not good:
            return
        self.failed = None
        is_start = workloads.is_start(good[0]["work"])
        times = [t for row in good for t in ([row["start_ns"] - row["interpreter_ns"]] if is_start else row["iterations_ns"])]
        self.best, self.median = min(times) / 1e6, statistics.median(times) / 1e6
        self.whole = min(row["start_ns"] for row in good) / 1e6
        self.error = max(row["error"] for row in good)
        self.resident = max(row["peak_resident_bytes"] for row in good) / 2**20
        self.plans = sorted({row["plan"] for row in good if "plan" in row})
        self.version = good[0].get("version")

    def is_ranked(self):
        return self.failed is None and self.error <= self.largest_error


class Results:
    def __init__(self, rows, precision):
        self.precision = precision
        self.rows = [row for row in rows if row["round"] > 0]
        self.tunes = {row["work"]: row["tune_seconds"] for row in rows if "tune_seconds" in row}
        self.rounds = sorted({row["round"] for row in self.rows})
        self.works = [work for work in workloads.WORKS if any(row["work"] == work for row in self.rows)]
        self.engines = [engine for engine in workloads.ENGINES if any(row["engine"] == engine for row in self.rows)]
        self.found = {(work, engine): Found(found, precision) for work in self.works for engine in self.engines
                      if (found := [row for row in self.rows if row["work"] == work and row["engine"] == engine])}
        calibrated = [row for row in self.rows if "peak_flops_per_second" in row]
        self.flops = max((row["peak_flops_per_second"] for row in calibrated), default=0)
        self.bandwidth = max((row["read_bytes_per_second"] for row in calibrated), default=0)

    def limit(self, work):
        """Roofline limit in milliseconds and what determines it. None for starts, without Cairn's minimum work, and for other precisions than
        f32, of which the calibrated rates are."""
        row = next((row for row in self.rows if row["work"] == work and "needed_flops" in row), None)
        if row is None or self.precision != "f32" or workloads.is_start(work) or self.flops == 0:
            return None
        compute, read = 1e3 * row["needed_flops"] / self.flops, 1e3 * row["needed_bytes"] / self.bandwidth
        return (compute, "multiply-adds") if compute >= read else (read, "reading")

    def ranked(self, work):
        """Engines by their best time, followed by those that failed or whose error is too large."""
        mine = [(engine, self.found[work, engine]) for engine in self.engines if (work, engine) in self.found]
        return sorted(mine, key=lambda each: (not each[1].is_ranked(), each[1].best if each[1].failed is None else 0))

    def verdict(self, work):
        """A sentence that compares Cairn with the best peer."""
        ranked = [(engine, found) for engine, found in self.ranked(work) if found.is_ranked()]
        ours = [each for each in ranked if each[0].startswith("cairn")]
        peers = [each for each in ranked if not each[0].startswith("cairn")]
        if not ours or not peers:
            return ""
        (engine, our), (peer, their) = ours[0], peers[0]
        ratio = their.best / our.best
        how = f"{ratio:.2f} times as fast as" if ratio >= 1 else f"slower than, at {ratio:.2f} of the speed of,"
        return f"{workloads.ENGINES[engine]} is {how} the best peer, {workloads.ENGINES[peer]} ({our.best:.2f} ms, {their.best:.2f} ms)."


def table(results, work):
    is_start = workloads.is_start(work)
    limit = results.limit(work)
    last = "with Python and its modules" if is_start else "part of the limit"
    lines = [f"| engine | best ms | median ms | {last} | error | peak MiB |", "|---|---:|---:|---:|---:|---:|"]
    for engine, found in results.ranked(work):
        name = workloads.ENGINES[engine]
        name = f"**{name}**" if engine.startswith("cairn") else name
        if found.failed is not None:
            lines.append(f"| {name} | failed: {found.failed.replace('|', ' ')} | | | | |")
            continue
        other = (f"{found.whole:.0f}" if not engine.startswith("cairn") else "-") if is_start else f"{limit[0] / found.best:.2f}" if limit else "-"
        error = f"{found.error:.1e}" + ("" if found.is_ranked() else ", not ranked")
        lines.append(f"| {name} | {found.best:.2f} | {found.median:.2f} | {other} | {error} | {found.resident:.0f} |")
    if limit:
        lines.append(f"| limit, by {limit[1]} | {limit[0]:.2f} | | 1 | | |")
    return lines


def summary(results):
    """Lines of a table of the best milliseconds, a row per engine and a column per workload."""
    lines = ["| best ms | " + " | ".join(workloads.WORKS[work][0] for work in results.works) + " |", "|---|" + "---:|" * len(results.works)]
    fastest = {work: results.ranked(work)[0][1].best for work in results.works if results.ranked(work)[0][1].is_ranked()}
    for engine in results.engines:
        cells = []
        for work in results.works:
            found = results.found.get((work, engine))
            if found is None or not found.is_ranked():
                cells.append("-")
            else:
                cells.append(f"**{found.best:.1f}**" if found.best == fastest[work] else f"{found.best:.1f}")
        lines.append(f"| {workloads.ENGINES[engine]} | " + " | ".join(cells) + " |")
    limits = [results.limit(work) for work in results.works]
    if any(limits):
        lines.append("| *limit of the machine* | " + " | ".join(f"{limit[0]:.1f}" if limit else "-" for limit in limits) + " |")
    return lines


def picture(results):
    """SVG with a bar chart per workload: a bar per engine, and the limit as a line."""
    bar, panel_width, label, rows = 18, 430, 190, []
    columns = 2
    height = max((len(results.ranked(work)) for work in results.works), default=0) * bar + 50
    for number, work in enumerate(results.works):
        x0, y0 = (number % columns) * (panel_width + 20) + 10, (number // columns) * height + 10
        ranked = [(engine, found) for engine, found in results.ranked(work) if found.is_ranked()]
        limit = results.limit(work)
        # Bars are clipped at three times the best time; the number next to a bar is exact.
        most = min(max(found.best for _, found in ranked), 3 * ranked[0][1].best) if ranked else 1
        scale = (panel_width - label - 75) / most
        rows.append(f'<text x="{x0}" y="{y0 + 14}" class="title">{escape(workloads.WORKS[work][0])}</text>')
        for i, (engine, found) in enumerate(ranked):
            y = y0 + 22 + i * bar
            width = min(found.best, most) * scale
            kind = "ours" if engine.startswith("cairn") else "peer"
            rows.append(f'<text x="{x0 + label - 6}" y="{y + 12}" class="name">{escape(workloads.ENGINES[engine])}</text>')
            rows.append(f'<rect x="{x0 + label}" y="{y + 1}" width="{width:.1f}" height="{bar - 4}" class="{kind}"/>')
            rows.append(f'<text x="{x0 + label + width + 4:.1f}" y="{y + 12}" class="number">{found.best:.1f} ms</text>')
        if limit:
            x, bottom = x0 + label + limit[0] * scale, y0 + 22 + len(ranked) * bar
            rows.append(f'<line x1="{x:.1f}" y1="{y0 + 20}" x2="{x:.1f}" y2="{bottom}" class="limit"/>')
            rows.append(f'<text x="{x:.1f}" y="{bottom + 11}" class="under">limit {limit[0]:.1f}</text>')
    whole = ((len(results.works) + columns - 1) // columns) * height + 10
    style = ("text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.name{text-anchor:end}.under{text-anchor:middle;fill:#b03030;font-size:11px}"
             ".ours{fill:#2f6f9f}.peer{fill:#b9c4cc}.limit{stroke:#b03030;stroke-dasharray:4 3}")
    size = f'width="{columns * (panel_width + 20)}" height="{whole}"'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {columns * (panel_width + 20)} {whole}">\n<style>{style}</style>\n'
            f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(rows) + "\n</svg>\n")


def text_of(results, name, image, threads):
    versions = ", ".join(f"{workloads.ENGINES[engine]} {found.version}" for engine in results.engines
                         if (found := next((f for (_, e), f in results.found.items() if e == engine and f.failed is None), None)) and found.version)
    lines = [f"# Cairn compared with its peers: {name}", "",
             f"{threads} threads, {workloads.PRECISIONS[results.precision].title}, {len(results.rounds)} interleaved round{'' if len(results.rounds) == 1 else 's'}; [how](../peers/README.md). {versions}.", "",
             f"![times]({image})", "", *summary(results), "", "Bold: the fastest. The highest rates calibrated in these rounds: "
             f"{results.flops / 1e9:.0f} GFLOP/s, {results.bandwidth / 1e9:.1f} GB/s.", ""]
    for work in results.works:
        lines += [f"## {workloads.WORKS[work][0]}", "", *table(results, work), "", results.verdict(work), ""]
        for engine in ("cairn-tuned", "cairn-untuned"):
            found = results.found.get((work, engine))
            if found is not None and found.failed is None and len(found.plans) > 1:
                lines += [f"{workloads.ENGINES[engine]} ran {len(found.plans)} different plans.", ""]
    lines += ["## Calibration", "", "| round | peak GFLOP/s | read GB/s | disturbed measurements |", "|---|---:|---:|---:|"]
    for number in results.rounds:
        rates = [(row["peak_flops_per_second"] / 1e9, row["read_bytes_per_second"] / 1e9) for row in results.rows
                 if row["round"] == number and "peak_flops_per_second" in row]
        disturbed = sum(1 for row in results.rows if row["round"] == number and row.get("disturbance", 0) > workloads.MAX_DISTURBANCE)
        if rates:
            flops, reads = sorted(rate[0] for rate in rates), sorted(rate[1] for rate in rates)
            lines.append(f"| {number} | {flops[0]:.0f} to {flops[-1]:.0f} | {reads[0]:.1f} to {reads[-1]:.1f} | {disturbed} |")
    if results.tunes:
        lines += ["", "Seconds of the tunes: " + ", ".join(f"{workloads.WORKS[work][0]} {seconds:.0f}" for work, seconds in results.tunes.items()) + "."]
    return "\n".join(lines) + "\n"


def show_in_readme(readme, results, page, image, name, threads):
    text = readme.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        return
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    verdicts = [f"- {workloads.WORKS[work][0]}: {verdict}" for work in results.works if (verdict := results.verdict(work))]
    middle = ["", f"{name}, {threads} threads, f32, same weights, same inputs, interleaved ([all results]({page}), [how](bench/peers/README.md)):", "",
              *summary(results), "", *verdicts, "", f"![times]({image})", ""]
    readme.write_text(before + BEGIN + "\n".join(middle) + END + after, encoding="utf-8")


def write(rows, root, options):
    """Writes the page, the plot and the part of README.md. Returns the path of the page."""
    results = Results(rows, options.precision)
    if not results.rows:
        raise SystemExit("nothing has been timed")
    name, slug = machine()
    folder = root / "bench" / "results"
    folder.mkdir(exist_ok=True)
    is_f32 = options.precision == "f32"
    stem = f"{time.strftime('%Y-%m-%d')}-{slug}" + ("" if is_f32 else f"-{options.precision}-bit")
    (folder / f"{stem}.svg").write_text(picture(results), encoding="utf-8")
    path = folder / f"{stem}.md"
    path.write_text(text_of(results, name, f"{stem}.svg", options.threads), encoding="utf-8")
    if is_f32:
        show_in_readme(root / "README.md", results, f"bench/results/{stem}.md", f"bench/results/{stem}.svg", name, options.threads)
    return path
