#include "apps/compare/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cairn::compare {
namespace {

/// The percentile of sorted values by nearest rank, in integers: rank = ceil(percent * count / 100).
double percentile(const std::vector<double>& sorted, std::size_t percent) {
    const std::size_t rank = (percent * sorted.size() + 99) / 100;
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

Statistics statistics_of(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const auto count = static_cast<double>(sorted.size());
    Statistics result{sorted.size(), std::accumulate(sorted.begin(), sorted.end(), 0.0) / count, sorted.front(),
                      percentile(sorted, 50)};
    if (sorted.size() >= 2) {
        double squares = 0;
        for (const double value : sorted) squares += (value - result.mean) * (value - result.mean);
        result.deviation = std::sqrt(squares / (count - 1));
    }
    if (sorted.size() >= 20) result.p95 = percentile(sorted, 95);
    if (sorted.size() >= 100) result.p99 = percentile(sorted, 99);
    return result;
}

}  // namespace cairn::compare
