#include "fuse/reading.hpp"

namespace cairn::inline v0::fuse {

using ir::NodeId;

Reading::Reading(const ir::GraphData& graph, const Classes& classes, std::size_t number) : graph_(graph) {
    if (classes.are_single()) return;
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        Changed changed{{}, 1};
        for (const NodeId operand : graph.node(id).operands) {
            const auto all = classes.spellings(classes.value_of(operand));
            changed.operands.push_back(all[std::min(number, all.size() - 1)]);
            changed.choices = std::max(changed.choices, all.size());
        }
        if (changed.choices > 1) changed_.emplace(id, std::move(changed));
    }
}

}  // namespace cairn::inline v0::fuse
