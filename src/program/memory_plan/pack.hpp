#pragma once

#include "program/memory_plan/packing_problem.hpp"

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace cairn::memory_plan {

/// Options of pack().
struct Options {
    /// False gives every buffer bytes of its own: the stage is switched off.
    bool reuse = true;
    /// Maximum number of placements of all buffers in the search.
    std::int64_t placements = 2000;
    /// Maximum number of buffer pairs examined: bounds the time for crowded problems. The first plan is always
    /// completed, except on a stop.
    std::int64_t work = 8'000'000;
    /// Maximum number of steps of the search below ceilings, a nanosecond or two each. 0: none.
    std::int64_t steps = 12'000'000;
    /// Wall-clock limit of the search; 0: none. With a limit, two calls may give different plans.
    std::chrono::nanoseconds time_limit{0};
    /// Ends the search. The plan is valid all the same: if none was completed, no buffers share bytes.
    std::stop_token stop = {};
};

/// Computes offsets for all buffers: tries a portfolio of orders, gap choices and sample sizes until a plan is within a
/// thousandth of the lower bound at all samples, else lowers the best one by a search below ceilings and improves the
/// best ones by local search. Keeps the relation whose worst ratio of height to bound is
/// smallest. The same problem and options give the same solution (without `time_limit` and `stop`).
///
///     bytes {256}, {256}, {512}; live [0,1] [1,2] [2,3]  ->  offsets 512, 0, 256 or the like; height 768, not 1024
///
/// Throws std::invalid_argument with fault_of(problem) for a problem that is not well formed.
PackingSolution pack(const PackingProblem& problem, const Options& options = {});

}  // namespace cairn::memory_plan
