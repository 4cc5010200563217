#include "select/looks.hpp"

#include "ir/op_table.hpp"
#include "types/hash.hpp"

namespace cairn::inline v0::select {

using ir::NodeId;

Looks::Looks(const ir::GraphData& graph, const expand::Classes& classes, const std::vector<ValueView>& views,
             const std::vector<bool>& bound, Descs& descs)
    : graph_(graph),
      classes_(classes),
      views_(views),
      bound_(bound),
      descs_(descs),
      of_nodes_(graph.nodes().size(), unknown) {}

std::uint32_t Looks::number_of(const Look& look) {
    std::size_t hash = std::hash<const void*>{}(look.seen);
    types::mix(hash, look.first);
    types::mix(hash, look.second);
    std::uint32_t known = unknown;
    index_.each(hash, [&](std::uint32_t at) {
        if (looks_[at] == look) known = at;
    });
    if (known != unknown) return known;
    index_.add(hash, static_cast<std::uint32_t>(looks_.size()));
    looks_.push_back(look);
    return static_cast<std::uint32_t>(looks_.size() - 1);
}

std::uint32_t Looks::of_node(NodeId id) {
    if (of_nodes_[id] != unknown) return of_nodes_[id];
    const ir::Node& node = graph_.node(id);
    const ValueView& view = views_[id];
    const ir::Node& base = graph_.node(view.base);
    const bool widens = node.op == ir::Op::cast && is_widening(graph_.node(node.operands[0]).dtype, node.dtype);
    std::uint32_t is = 0;
    for (const bool fact : {view.base == id, ir::is(node, ir::OpClass::effect), is_state_version(node),
                            is_state_version(base), ir::is_given(base)})
        is = 2 * is + (fact ? 1 : 0);
    const TensorDesc* seen = descs_.of({node.dtype, node.shape, view.strides, {}, bound_[id]});
    const std::uint32_t widened = widens ? of_node(node.operands[0]) : unknown;
    return of_nodes_[id] = number_of({seen, is, widened});
}

std::uint32_t Looks::of_value(NodeId value) {
    std::uint32_t look = unknown;
    for (const NodeId spelling : classes_.spellings(value))
        look = look == unknown ? of_node(spelling) : number_of({nullptr, look, of_node(spelling)});
    if (const std::optional<NodeId> narrow = classes_.rounded(value))
        look = number_of({nullptr, number_of({nullptr, look, of_node(*narrow)}), unknown});
    return look;
}

}  // namespace cairn::inline v0::select
