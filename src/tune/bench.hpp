#pragma once

#include "timing/contest.hpp"

#include <functional>
#include <span>

/// What a tune takes times with.
namespace cairn::inline v0::tune {

struct Bench {
    /// Times contestants that do the same (timing/contest.hpp).
    std::function<timing::ContestResult(std::span<const timing::Contestant>, const timing::ContestOptions&)> contest;
    /// Seconds since some moment, by which the budget is counted.
    std::function<double()> now;
};

/// The kernels of a Context and the wall clock.
Bench bench_of(const Context& context);

}  // namespace cairn::inline v0::tune
