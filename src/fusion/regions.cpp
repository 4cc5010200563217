#include "fusion/regions.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/types/pool_copy.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <algorithm>

namespace cairn::fusion {
namespace {

using ir::NodeId;

// Maximum size of a region: more than enough for every known function, and a bound on the work where arithmetic extends
// through a whole model.
constexpr std::size_t max_nodes = 40;

}  // namespace

bool is_arithmetic(const ir::Node& node) { return ir::info(node.op).form == ir::Normalization::transparent; }

static_assert(ir::op_rows.size() <= 64, "marks are bits of one number");
std::uint64_t op_bit(ir::Op op) { return std::uint64_t{1} << static_cast<unsigned>(normal_form::canonical_op(op)); }

const ArithmeticRegion& RegionCache::from(NodeId entry) {
    ArithmeticRegion& region = regions_[entry];
    if (!region.nodes.empty()) return region;
    nodes_.assign(1, entry);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const ir::Node& node = graph_.node(nodes_[i]);
        region.choices = std::max(region.choices, extraction_.choices(nodes_[i]));
        if (!is_arithmetic(node)) {
            if (!node.operands.empty()) region.boundary_ops |= op_bit(node.op);
            continue;
        }
        for (const NodeId operand : extraction_.operands(nodes_[i]))
            if (nodes_.size() < max_nodes && std::find(nodes_.begin(), nodes_.end(), operand) == nodes_.end())
                nodes_.push_back(operand);
    }
    region.nodes = types::copy_to_pool(std::span<const NodeId>(nodes_), pool_);
    return region;
}

}  // namespace cairn::fusion
