#include "autotune/measurement/timing_summary.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::autotune {

double quantile(const std::vector<double>& sorted, double q) {
    return sorted[static_cast<std::size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)))];
}

Timing summary_of(std::vector<double> times, std::int64_t inner) {
    std::sort(times.begin(), times.end());
    Timing timing;
    timing.samples = static_cast<int>(times.size());
    timing.inner = static_cast<int>(inner);
    timing.min = times.front();
    timing.p10 = quantile(times, 0.1);
    timing.median = quantile(times, 0.5);
    timing.p90 = quantile(times, 0.9);
    for (double& time : times) time = std::abs(time - timing.median);
    std::sort(times.begin(), times.end());
    timing.mad = quantile(times, 0.5);
    return timing;
}

}  // namespace cairn::autotune
