#pragma once

#include <string>
#include <vector>

namespace cairn::bench {

/// One measured size of a sweep, and what the machine allows there.
struct SweepPoint {
    std::int64_t size = 0;
    double seconds = 0, limit_seconds = 0;
    double share() const { return limit_seconds / seconds; }
};

/// One line of a plot: a family of kernels over sizes in ascending order.
struct SweepLine {
    std::string title, family;
    std::vector<SweepPoint> points;
};

/// A panel for each title, one below the other, its families' shares of the limit over the sizes.
std::string plot_of(const std::vector<SweepLine>& lines);

}  // namespace cairn::bench
