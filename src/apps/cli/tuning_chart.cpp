#include "apps/cli/tuning_chart.hpp"

#include "apps/cli/output.hpp"
#include "apps/cli/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::cli {
namespace {

constexpr double across = 1090, high = 240, margin = 80, below = 30, above = 14;

}  // namespace

std::string tuning_chart(const std::vector<TunePoint>& points) {
    double last = 1e-9, largest = 0;
    for (const TunePoint& point : points) last = std::max(last, point.seconds), largest = std::max(largest, point.best);
    const auto x_of = [&](double seconds) { return margin + seconds / last * (across - margin - 30); };
    const auto y_of = [&](double best) {
        return high - below - (largest > 0 ? best / largest : 0) * (high - below - above);
    };
    Svg svg(across, high, "expected time of the best program during tuning");
    for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const double y = y_of(part * largest);
        svg.line(margin, y, across - 30, y, "rule");
        svg.text(margin - 8, y + 4, time_text(part * largest), "small end");
        svg.text(x_of(part * last), high - below + 18, fmt::format("{:.2g} s", part * last), "small middle");
    }
    std::string curve;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double x = x_of(points[i].seconds), y = y_of(points[i].best);
        curve += i == 0 ? fmt::format("M {:.1f} {:.1f}", x, y) : fmt::format(" H {:.1f} V {:.1f}", x, y);
    }
    svg.path(curve, "curve");
    for (const TunePoint& point : points)
        svg.rect(x_of(point.seconds) - 2, y_of(point.best) - 2, 4, 4, "dot",
                 fmt::format("{:.2f} s: {}, then {}", point.seconds, time_text(point.best), point.kernel));
    return std::move(svg).finish();
}

}  // namespace cairn::cli
