#include "autotune/measurement/working_set_sweep.hpp"

#include <algorithm>

namespace cairn::autotune {
namespace {

// Smaller ratios of rates have other causes than caches.
constexpr double min_cache_ratio = 1.4;
// Smallest ratio of two rates on a plateau.
constexpr double plateau_ratio = 0.95;
// Smaller working sets fit the private caches of one core.
constexpr double min_shared_cache_bytes = 4 << 20;

}  // namespace

double effective_cache_bytes(std::span<const WorkingSetBandwidth> rates, double reported_bytes) {
    double bytes = 0;
    for (const WorkingSetBandwidth& each : rates)
        if (each.rate > min_cache_ratio * rates.back().rate) bytes = std::max(bytes, each.bytes);
    const bool shows = bytes >= min_shared_cache_bytes;
    return shows ? bytes : std::max(bytes, std::min(reported_bytes, rates.back().bytes / 2));
}

std::vector<WorkingSetBandwidth> sweep_to_memory_plateau(double first, double most,
                                                         const std::function<double(double)>& rate_of,
                                                         const std::function<bool()>& has_time) {
    std::vector<WorkingSetBandwidth> rates{{first, rate_of(first)}};
    while (2 * rates.back().bytes <= most && (!has_time || has_time())) {
        const double bytes = 2 * rates.back().bytes;
        rates.push_back({bytes, rate_of(bytes)});
        // Two steps, because one may be level by chance.
        if (rates.size() > 2 &&
            rates.back().rate >= plateau_ratio * std::max(rates.end()[-2].rate, rates.end()[-3].rate))
            break;
    }
    return rates;
}

}  // namespace cairn::autotune
