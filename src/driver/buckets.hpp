#pragma once

#include "cairn/compile.hpp"
#include "graph/ir/graph_data.hpp"
#include "runtime/program_set.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

/// Buckets: the ranges of sizes that have programs of their own.
namespace cairn::driver {

/// One combination of the ranges of all splits, and its relative frequency.
struct BucketRanges {
    std::vector<runtime::Range> ranges;
    double weight = 1;
};

/// All combinations; without splits, one that has no ranges.
///
///     splits {{"T", {1, 12}}}, T in 1..1024   ->   T in 1..1, 2..12, 13..1024
///
/// Throws Error(argument) for an unknown symbol, a symbol that is a size of a state, bounds that do not ascend, and
/// weights that are not positive and finite or whose number is wrong.
std::vector<BucketRanges> bucket_ranges_of(const ir::GraphData& graph, std::span<const Split> splits);

/// `T-2-12`, for dumps and progress reports; empty without ranges.
std::string bucket_name(const std::vector<runtime::Range>& ranges);

/// The graph of one bucket: symbols restricted to its ranges. A symbol with a single value is replaced by it, unless it
/// is the length of a growing state.
std::shared_ptr<ir::GraphData> bucket_graph(const ir::GraphData& graph, const std::vector<runtime::Range>& ranges);

}  // namespace cairn::driver
