#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace cairn::compare {

/// Statistics of measured times. A percentile is by nearest rank: the smallest value that at least that share of all
/// values do not exceed. It is left out where fewer values than a whole step of it exist.
struct Statistics {
    std::size_t count = 0;
    double mean = 0, least = 0, p50 = 0;
    std::optional<double> deviation{};  ///< standard deviation of the sample; nothing for fewer than 2 values
    std::optional<double> p95{};        ///< nothing for fewer than 20 values
    std::optional<double> p99{};        ///< nothing for fewer than 100 values
};

/// The statistics of at least one value.
Statistics statistics_of(std::span<const double> values);

}  // namespace cairn::compare
