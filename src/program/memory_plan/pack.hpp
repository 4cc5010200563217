#pragma once

#include "program/memory_plan/packing_problem.hpp"

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace cairn::memory_plan {

struct Options {
    /// False gives every buffer a place of its own: the stage switched off.
    bool reuse = true;
    /// How many times all buffers may be placed in search of a better plan.
    std::int64_t placements = 2000;
    /// How many pairs of buffers may be looked at meanwhile: bounds the time for crowded problems. The first plan is
    /// always finished, but for a stop.
    std::int64_t work = 8'000'000;
    /// Ends the search by the clock as well; 0: never. With a limit two calls may give different plans.
    std::chrono::nanoseconds time_limit{0};
    /// Ends the search too; the plan that is there then is sound: without a first one no buffers share bytes.
    std::stop_token stop = {};
};

/// Finds places for all buffers: tries a portfolio of orders, gap choices and sample sizes until a plan meets the lower
/// bound at all samples, else improves the best ones by local search, then keeps the relation whose worst ratio of
/// height to bound is smallest. The same problem and options give the same solution (without `time_limit` and `stop`).
///
///     bytes {256}, {256}, {512}; lives [0,1] [1,2] [2,3]  ->  offsets 512, 0, 256 or the like; height 768 instead of
///     1024
///
/// Throws std::invalid_argument with fault_of(problem) for a problem that is not well formed.
PackingSolution pack(const PackingProblem& problem, const Options& options = {});

}  // namespace cairn::memory_plan
