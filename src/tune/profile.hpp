#pragma once

#include "cairn/compiled_graph.hpp"
#include "select/select.hpp"

#include <chrono>
#include <set>
#include <stop_token>
#include <string>

/// Profile on a miss: measures what the best path needs and nothing else.
namespace cairn::inline v0::tune {

struct Budget {
    std::chrono::steady_clock::time_point end;
    ProgressSink progress;
    std::stop_token stop;
};

struct Profiled {
    int measured = 0;       ///< measurements made
    int failed = 0;         ///< kernels that could not be measured; recorded, so that they are not tried again
    bool complete = false;  ///< every time on the best path is known
};

/// Searches with unknown times at their lower bounds, measures what is unknown on the path found, stores it, and
/// repeats until all of the best path is measured or the budget is spent. `resident`: what other buckets' programs keep
/// in memory, as select::Candidates notes it. Each measurement is stored as soon as it is made.
Profiled profile(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, const Context& context,
                 select::CostSource costs, const std::set<std::string>& resident, const select::Options& options,
                 const Budget& budget);

}  // namespace cairn::inline v0::tune
