#pragma once

#include "program/memory_plan/live_intervals.hpp"

#include <vector>

namespace cairn::memory_plan {

/// Placement orders that are tried, at the sizes of one column; each suits another kind of problem. Ties are broken by
/// size, then by index.
enum class OrderRule {
    size,        ///< largest first
    area,        ///< largest bytes x ticks first
    pressure,    ///< highest peak of live bytes during the buffer's live interval first
    duration,    ///< longest live interval first
    contention,  ///< largest sum of live bytes over the ticks of the live interval first
    creation,    ///< first to begin first
    ending,      ///< last to end first
};
inline constexpr int order_rules = 7;

/// All buffers in the order of `rule`.
std::vector<int> order_by(OrderRule rule, const LiveIntervals& intervals, const Sizes& sizes, int column);

}  // namespace cairn::memory_plan
