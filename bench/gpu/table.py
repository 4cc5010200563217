"""The table at the end: the outcome of each stage, then the times of each work."""
import statistics

from gpu.torch_processes import PRECISIONS

TIMED = ("bench", "torch", "measured")


def aligned(lines):
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "".join("  ".join(map(str.ljust, line, widths)).rstrip() + "\n" for line in lines)


def outcomes(rows):
    """A line for each result but for the times."""
    lines = []
    for row in rows:
        is_timed, is_optional = row["stage"] in TIMED, row["stage"] == "measured"
        if not is_timed or row["status"] not in (["ok", "no time"] if is_optional else ["ok"]):
            name = " ".join(str(row[key]) for key in ("name", "precision", "mode") if key in row)
            lines.append([row["stage"], name, row["status"], f"{row['seconds']:.1f} s"])
    return lines


def times(rows):
    """A line for each work: Cairn's time, and the best of PyTorch's modes in each precision by the wall clock."""
    found = {}  # [work][engine, precision, mode]: rows of all turns
    for row in rows:
        if row["stage"] in TIMED and row["status"] == "ok":
            key = row["engine"], row["precision"], row.get("mode", "")
            found.setdefault(row["name"], {}).setdefault(key, []).append(row)
    if not found:
        return []

    def middle(turns):
        return [statistics.median(row[unit] for row in turns) for unit in ("wall_us", "card_us")]

    def shown(time):
        return " ".join([f"{time[1]:.0f} ({time[0]:.0f})", *time[2:]]) if time else "-"

    def faster(ours, theirs):
        return f"{theirs[0] / ours[0]:.2f}x" if ours and theirs and ours[0] > 0 else "-"

    heads = ["us on the card (wall clock)", "Cairn f32", "Cairn f16", *(f"PyTorch {each}" for each in PRECISIONS),
             "faster, f32", "f16"]
    lines = [heads]
    for work, engines in found.items():
        best = {}
        for (engine, precision, mode), turns in engines.items():
            time = [*middle(turns), mode] if mode else middle(turns)
            best[engine, precision] = min(time, best.get((engine, precision), time))
        ours = [best.get(("Cairn", each)) for each in ("f32", "f16")]
        ratios = [faster(time, best.get(("PyTorch", each))) for time, each in zip(ours, ("f32", "f16"))]
        lines.append([work, *map(shown, ours), *(shown(best.get(("PyTorch", each))) for each in PRECISIONS), *ratios])
    return lines


def table_of(rows):
    timed = times(rows)
    return aligned(outcomes(rows)) + ("\n" + aligned(timed) if timed else "")
