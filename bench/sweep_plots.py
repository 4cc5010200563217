"""SVG plots of sweeps: shares of the limit over sizes, and ratios of the time to the limit by group."""
import html
import math

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def picture(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">\n'
            '<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def ticks(low, high):
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if (high - low) / step <= 16)
    return range(-(-low // step) * step, high + 1, step)


def panel(title, lines, top, left=50, width=860, height=150):
    """One line chart. `lines` is a list of (name, [(size, share)]); a share of 1 is the limit."""
    sizes = [size for _, points in lines for size, _ in points]
    low, high = min(sizes), max(sizes)
    x = lambda size: left + width * (size - low) / max(high - low, 1)
    y = lambda share: top + 40 + height * (1 - min(share, 1.1) / 1.1)
    parts = [f'<text x="{left}" y="{top + 16}" font-weight="bold">{html.escape(title)}</text>']
    for share in (0, .25, .5, .75, 1):
        parts.append(f'<path d="M{left} {y(share):.1f}h{width}" stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>')
    for size in ticks(low, high):
        parts.append(f'<text x="{x(size):.1f}" y="{y(0) + 16:.1f}" text-anchor="middle">{size}</text>')
    for at, (name, points) in enumerate(lines):
        colour = COLOURS[at % len(COLOURS)]
        path = "L".join(f"{x(size):.1f} {y(share):.1f}" for size, share in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
                     f'<text x="{left + 220 * at}" y="{top + 34}" fill="{colour}">{html.escape(name)}</text>')
    return parts


def over_sizes(panels):
    """Line charts one below the other. `panels` is a list of (title, lines)."""
    parts = [part for at, (title, lines) in enumerate(panels) for part in panel(title, lines, 220 * at)]
    return picture(930, 220 * len(panels), parts)


def in_groups(groups, left=150, unit=95):
    """Dot plot of ratios to the limit, a row per group, on a log2 axis from 1/2 to 64. `groups` is a list of (name, ratios)."""
    x = lambda ratio: left + (math.log2(min(max(ratio, .5), 64)) + 1) * unit
    bottom = 20 + 18 * len(groups)
    parts = []
    for power in range(-1, 7):
        at = x(2.0 ** power)
        parts.append(f'<path d="M{at:.1f} 18V{bottom}" stroke="#ddd"/>'
                     f'<text x="{at:.1f}" y="12" text-anchor="middle">{2.0 ** power:g}</text>')
    parts.append(f'<path d="M{x(3):.1f} 18V{bottom}" stroke="#d55e00" stroke-dasharray="3"/>')
    for at, (name, ratios) in enumerate(groups):
        parts.append(f'<text x="{left - 10}" y="{33 + 18 * at}" text-anchor="end">{html.escape(name)}</text>')
        parts += [f'<circle cx="{x(ratio):.1f}" cy="{29 + 18 * at}" r="3" fill="{COLOURS[0] if ratio <= 3 else COLOURS[1]}" '
                  'fill-opacity=".5"/>' for ratio in ratios]
    return picture(left + 7 * unit + 30, bottom + 6, parts)


def over_tolerances(title, errors, times, left=60, width=620, height=240):
    """Two charts over a logarithmic axis of tolerances: errors on a logarithmic axis, and ratios of times from 0 to 1.2. Both are lists
    of (name, [(tolerance, value)]); an error of 0 is not drawn."""
    tolerances = [each for _, points in errors for each, _ in points]
    low, high = math.log10(min(tolerances)), math.log10(max(tolerances))
    x = lambda tolerance: left + width * (math.log10(tolerance) - low) / max(high - low, 1e-9)
    smallest = math.floor(min(math.log10(value) for _, points in errors for _, value in points if value > 0))
    charts = [("relative error", errors, lambda value: (math.log10(value) - smallest) / (high - smallest),
               [10.0 ** power for power in range(smallest, math.floor(high) + 1)]),
              ("time", times, lambda value: value / 1.2, [0, .25, .5, .75, 1])]
    parts = [f'<text x="{left}" y="16" font-weight="bold">{html.escape(title)}</text>']
    for at, (axis, lines, share, marks) in enumerate(charts):
        top = 50 + at * (height + 60)
        y = lambda value: top + height * (1 - share(value))
        for mark in marks:
            parts.append(f'<path d="M{left} {y(mark):.1f}h{width}" stroke="#ddd"/>'
                         f'<text x="{left - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:g}</text>')
        for tolerance in sorted(set(tolerances)):
            parts.append(f'<text x="{x(tolerance):.1f}" y="{top + height + 16}" text-anchor="middle">{tolerance:g}</text>')
        parts.append(f'<text x="{left + width + 10}" y="{top + 10}">{axis}</text>')
        for number, (name, points) in enumerate(lines):
            colour = COLOURS[number % len(COLOURS)]
            path = "L".join(f"{x(tolerance):.1f} {y(value):.1f}" for tolerance, value in points if value > 0)
            parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
                         f'<text x="{left + 220 * number}" y="{top - 8}" fill="{colour}">{html.escape(name)}</text>')
    return picture(left + width + 120, 50 + 2 * (height + 60), parts)
