#pragma once

#include "cairn/compiled_graph.hpp"
#include "select/select.hpp"

#include <chrono>
#include <span>
#include <stop_token>

/// Profile on a miss: measures what the best paths need and nothing else.
namespace cairn::inline v0::tune {

struct Budget {
    std::chrono::steady_clock::time_point end;
    ProgressSink progress;
    std::stop_token stop;
};

struct Profiled {
    int measured = 0;       ///< measurements made
    int compared = 0;       ///< errors measured
    int failed = 0;         ///< kernels that could not be measured; recorded, so that they are not tried again
    bool complete = false;  ///< every time on the best paths is known
};

/// Chooses with unknown times at their lower bounds, measures what is unknown on the paths found, stores it, and
/// repeats until all of them is measured or the budget is spent. The errors of kernels that state one are measured with
/// their times: whoever is further off than it said is refused from then on. Each measurement is stored as soon as it
/// is made. Afterwards the buckets' candidates count with `costs` and what was measured.
Profiled profile(std::span<const select::Bucket> buckets, const Context& context, const select::CostSource& costs,
                 const select::Options& options, const Budget& budget);

}  // namespace cairn::inline v0::tune
