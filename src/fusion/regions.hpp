#pragma once

#include "fusion/extraction.hpp"
#include "graph/ir/graph_data.hpp"

#include <cstdint>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

/// Where a match looks for operands. Spellings of one function differ in arithmetic and movement, hardly in the ops
/// between: the exp, sum and matmul of an attention stand in every spelling of it. So a region is all that can be
/// reached from a node through arithmetic and movement; its rim are the other ops, the marks.
///
///     (x - max(x)) * exp(y / 2)   from the product: reaches mul sub div x y 2 and the marks max_reduce, exp
namespace cairn::fusion {

struct ArithmeticRegion {
    std::span<const ir::NodeId> nodes;  ///< nearest first, the entry at the front
    std::uint64_t boundary_ops = 0;     ///< bit op_bit(op) for each op on the rim that has operands
    std::size_t choices = 1;            ///< the most spellings that a value read here has
};

/// The bit of an op in a set of marks. Ops that are spelled with each other share one: tanh and exp.
std::uint64_t op_bit(ir::Op op);

/// True for ops a region goes through.
bool is_arithmetic(const ir::Node& node);

/// The regions of a graph in one reading, each made when first asked for. Their lists lie in a pool: letting go of many
/// is quick.
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
    std::vector<ArithmeticRegion> regions_;  // empty until asked for
    std::vector<ir::NodeId> nodes_;          // scratch
    std::pmr::monotonic_buffer_resource pool_;
};

}  // namespace cairn::fusion
