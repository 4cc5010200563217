#pragma once

#include "program/memory_plan/live_intervals.hpp"

#include <vector>

namespace cairn::memory_plan {

/// The orders in which placing is tried, at the sizes of one column; each is good for another kind of problem. Ties are
/// broken by size, then by index.
enum class OrderRule {
    size,        ///< largest first
    area,        ///< largest bytes x ticks first
    pressure,    ///< those alive where most bytes are alive first
    duration,    ///< longest life first
    contention,  ///< those that live with most bytes of others, summed over their life, first
    creation,    ///< as they begin
    ending,      ///< last to end first
};
inline constexpr int order_rules = 7;

/// All buffers by `rule`.
std::vector<int> order_by(OrderRule rule, const LiveIntervals& intervals, const Sizes& sizes, int column);

}  // namespace cairn::memory_plan
