#pragma once

#include "fusion/extraction.hpp"
#include "graph/ir/graph_data.hpp"

#include <cstdint>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

/// Regions in which pattern matching looks for operands. The expressions of one function differ in arithmetic and
/// movement, but hardly in the ops between: exp, sum and matmul occur in every expression of an attention. A region is
/// everything that is reachable from a node through arithmetic and movement; its boundary are the other ops.
///
///     (x - max(x)) * exp(y / 2)   from the product: reaches mul sub div x y 2 and the boundary ops max_reduce, exp
namespace cairn::fusion {

/// The region from one node.
struct ArithmeticRegion {
    std::span<const ir::NodeId> nodes;  ///< nearest first, beginning with the entry
    std::uint64_t boundary_ops = 0;     ///< bit op_bit(op) for each boundary op that has operands
    std::size_t choices = 1;            ///< largest number of expressions of a value read here
};

/// The bit of an op in a set of ops. Ops that the normal form expresses by each other share one: tanh and exp,
/// state_append and concat.
std::uint64_t op_bit(ir::Op op);

/// True for ops through which a region extends.
bool is_arithmetic(const ir::Node& node);

/// The regions of a graph in one extraction, built on demand. Their lists are in a pool, so that many are released
/// quickly.
class RegionCache {
public:
    explicit RegionCache(const ir::GraphData& graph) : RegionCache(graph, Extraction(graph)) {}
    RegionCache(const ir::GraphData& graph, Extraction extraction)
        : graph_(graph), extraction_(std::move(extraction)), regions_(graph.nodes().size()) {}
    const ArithmeticRegion& from(ir::NodeId entry);
    const Extraction& extraction() const noexcept { return extraction_; }

private:
    const ir::GraphData& graph_;
    Extraction extraction_;
    std::vector<ArithmeticRegion> regions_;  // empty until built
    std::vector<ir::NodeId> nodes_;          // scratch
    std::pmr::monotonic_buffer_resource pool_;
};

}  // namespace cairn::fusion
