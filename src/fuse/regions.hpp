#pragma once

#include "fuse/reading.hpp"
#include "ir/graph_data.hpp"

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
namespace cairn::inline v0::fuse {

struct Region {
    std::span<const ir::NodeId> nodes;  ///< nearest first, the entry at the front
    std::uint64_t marks = 0;            ///< bit mark_of(op) for each op on the rim that has operands
    std::size_t choices = 1;            ///< the most spellings that a value read here has
};

/// The bit of an op in a set of marks. Ops that are spelled with each other share one: tanh and exp.
std::uint64_t mark_of(ir::Op op);

/// True for ops a region goes through.
bool is_arithmetic(const ir::Node& node);

/// The regions of a graph in one reading, each made when first asked for. Their lists lie in a pool: letting go of many
/// is quick.
class Regions {
public:
    explicit Regions(const ir::GraphData& graph) : Regions(graph, Reading(graph)) {}
    Regions(const ir::GraphData& graph, Reading reading)
        : graph_(graph), reading_(std::move(reading)), regions_(graph.nodes().size()) {}
    const Region& from(ir::NodeId entry);
    const Reading& reading() const noexcept { return reading_; }

private:
    const ir::GraphData& graph_;
    Reading reading_;
    std::vector<Region> regions_;    // empty until asked for
    std::vector<ir::NodeId> nodes_;  // scratch
    std::pmr::monotonic_buffer_resource pool_;
};

}  // namespace cairn::inline v0::fuse
