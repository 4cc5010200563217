#pragma once

#include "cairn/compile.hpp"
#include "graph/ir/graph_data.hpp"
#include "runtime/program_set.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

/// The ranges of sizes that have programs of their own.
namespace cairn::driver {

/// One combination of the ranges that the splits cut, and how often it runs.
struct BucketRanges {
    std::vector<runtime::Range> ranges;
    double weight = 1;
};

/// All combinations; one without ranges where nothing is split.
///
///     splits {{"T", {1, 12}}}, T in 1..1024   ->   T in 1..1, 2..12, 13..1024
///
/// Throws Error(argument) for an unknown symbol, one that is a size of a state, bounds that do not ascend, and weights
/// that are too few, too many or none.
std::vector<BucketRanges> bucket_ranges_of(const ir::GraphData& graph, std::span<const Split> splits);

/// `T-2-12`, as dumps and progress call it; empty without ranges.
std::string bucket_name(const std::vector<runtime::Range>& ranges);

/// The graph of one bucket: symbols within its ranges, those with one value replaced by it.
std::shared_ptr<ir::GraphData> bucket_graph(const ir::GraphData& graph, const std::vector<runtime::Range>& ranges);

}  // namespace cairn::driver
