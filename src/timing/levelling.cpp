#include "timing/levelling.hpp"

#include <algorithm>

namespace cairn::inline v0::timing {
namespace {

// Rates differ by less than this for other reasons than caches.
constexpr double markedly = 1.4;
// Smaller stretches lie in caches of one core.
constexpr double shared_cache = 4 << 20;

}  // namespace

double cached_bytes(std::span<const ReadRate> rates, double told_bytes) {
    double bytes = 0;
    for (const ReadRate& each : rates)
        if (each.rate > markedly * rates.back().rate) bytes = std::max(bytes, each.bytes);
    const bool shows = bytes >= shared_cache;
    return shows ? bytes : std::max(bytes, std::min(told_bytes, rates.back().bytes / 2));
}

}  // namespace cairn::inline v0::timing
