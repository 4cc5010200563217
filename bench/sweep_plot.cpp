#include "bench/sweep_plot.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::bench {
namespace {

constexpr double left = 50, width = 860, height = 150, above = 40, panel = height + 70;
constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73"};

std::string panel_of(const std::vector<const SweepLine*>& lines, double top) {
    double low = 1e9, high = 0;
    for (const SweepLine* line : lines)
        for (const SweepPoint& point : line->points) {
            low = std::min(low, static_cast<double>(point.size));
            high = std::max(high, static_cast<double>(point.size));
        }
    const auto x = [&](double size) { return left + width * (size - low) / std::max(high - low, 1.0); };
    const auto y = [&](double share) { return top + above + height * (1 - std::min(share, 1.1) / 1.1); };
    std::string svg =
        fmt::format("<text x='{}' y='{}' font-weight='bold'>{}</text>\n", left, top + 16, lines[0]->title);
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
        svg +=
            fmt::format("<path d='M{} {:.1f}h{}' stroke='#ddd'/><text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n",
                        left, y(share), width, left - 6, y(share) + 4, share);
    const double step = high - low > 200 ? 24 : 12;
    for (double size = step * std::max(1.0, low / step); size <= high; size += step)
        svg +=
            fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{:.0f}</text>\n", x(size), y(0) + 16, size);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const char* colour = colours[i % std::size(colours)];
        std::string path;
        for (const SweepPoint& point : lines[i]->points)
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(static_cast<double>(point.size)),
                                y(point.share()));
        svg += fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='1.5'/>\n", path, colour);
        svg += fmt::format("<text x='{}' y='{}' fill='{}'>{}</text>\n", left + 120.0 * static_cast<double>(i), top + 34,
                           colour, lines[i]->family);
    }
    return svg;
}

}  // namespace

std::string plot_of(const std::vector<SweepLine>& lines) {
    std::vector<std::string> titles;
    for (const SweepLine& line : lines)
        if (std::find(titles.begin(), titles.end(), line.title) == titles.end()) titles.push_back(line.title);
    std::string panels;
    for (std::size_t i = 0; i < titles.size(); ++i) {
        std::vector<const SweepLine*> mine;
        for (const SweepLine& line : lines)
            if (line.title == titles[i]) mine.push_back(&line);
        panels += panel_of(mine, panel * static_cast<double>(i));
    }
    const double whole = panel * static_cast<double>(titles.size());
    return fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' font-family='sans-serif' font-size='11'>\n"
        "<rect width='100%' height='100%' fill='#fff'/>\n{2}</svg>\n",
        left + width + 20, whole, panels);
}

}  // namespace cairn::bench
