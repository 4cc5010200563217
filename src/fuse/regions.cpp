#include "fuse/regions.hpp"

#include "canon/forms.hpp"
#include "ir/op_table.hpp"
#include "types/pooled.hpp"

#include <algorithm>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

// Enough for every known function with room to spare, and a bound on the work where arithmetic goes on through a whole
// model.
constexpr std::size_t most_nodes = 40;

}  // namespace

bool is_arithmetic(const ir::Node& node) { return ir::info(node.op).form == ir::Form::open; }

static_assert(ir::op_rows.size() <= 64, "marks are bits of one number");
std::uint64_t mark_of(ir::Op op) { return std::uint64_t{1} << static_cast<unsigned>(canon::shown_as(op)); }

const Region& Regions::from(NodeId entry) {
    Region& region = regions_[entry];
    if (!region.nodes.empty()) return region;
    nodes_.assign(1, entry);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const ir::Node& node = graph_.node(nodes_[i]);
        region.choices = std::max(region.choices, reading_.choices(nodes_[i]));
        if (!is_arithmetic(node)) {
            if (!node.operands.empty()) region.marks |= mark_of(node.op);
            continue;
        }
        for (const NodeId operand : reading_.operands(nodes_[i]))
            if (nodes_.size() < most_nodes && std::find(nodes_.begin(), nodes_.end(), operand) == nodes_.end())
                nodes_.push_back(operand);
    }
    region.nodes = types::pooled(std::span<const NodeId>(nodes_), pool_);
    return region;
}

}  // namespace cairn::inline v0::fuse
