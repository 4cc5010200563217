#include "selection/candidates/value_signature.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/types/hash.hpp"

namespace cairn::selection {

using ir::NodeId;

ValueSignatures::ValueSignatures(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                 const std::vector<ValueView>& views, const std::vector<bool>& bound,
                                 const std::vector<LayoutNames>& layouts, TensorDescInterner& desc_interner)
    : graph_(graph),
      classes_(classes),
      views_(views),
      bound_(bound),
      layouts_(layouts),
      desc_interner_(desc_interner),
      of_nodes_(graph.nodes().size(), unknown) {}

std::uint32_t ValueSignatures::intern(const Signature& signature) {
    std::size_t hash = std::hash<const void*>{}(signature.strided);
    types::hash_combine(hash, signature.first);
    types::hash_combine(hash, signature.second);
    std::uint32_t known = unknown;
    index_.each(hash, [&](std::uint32_t at) {
        if (signatures_[at] == signature) known = at;
    });
    if (known != unknown) return known;
    index_.add(hash, static_cast<std::uint32_t>(signatures_.size()));
    signatures_.push_back(signature);
    return static_cast<std::uint32_t>(signatures_.size() - 1);
}

std::uint32_t ValueSignatures::of_node(NodeId id) {
    if (of_nodes_[id] != unknown) return of_nodes_[id];
    const ir::Node& node = graph_.node(id);
    const ValueView& view = views_[id];
    const ir::Node& base = graph_.node(view.base);
    const bool widens = node.op == ir::Op::cast && is_widening(graph_.node(node.operands[0]).dtype, node.dtype);
    std::uint32_t is = 0;
    for (const bool fact : {view.base == id, ir::is(node, ir::OpClass::effect), is_state_version(node),
                            is_state_version(base), ir::is_given(base)})
        is = 2 * is + (fact ? 1 : 0);
    const TensorDesc* strided = desc_interner_.of({node.dtype, node.shape, view.strides, {}, bound_[id]});
    const std::uint32_t widened = widens ? of_node(node.operands[0]) : unknown;
    return of_nodes_[id] = intern({strided, is, widened});
}

std::uint32_t ValueSignatures::of_value(NodeId value) {
    std::uint32_t signature = unknown;
    for (const NodeId expression : classes_.expressions(value))
        signature = signature == unknown ? of_node(expression) : intern({nullptr, signature, of_node(expression)});
    for (const NodeId narrow : classes_.rounded(value))
        signature = intern({nullptr, intern({nullptr, signature, of_node(narrow)}), unknown});
    if (layouts_.empty()) return signature;
    const ir::Node& node = graph_.node(value);
    for (const std::string_view layout : layouts_[value]) {
        TensorDesc desc = TensorDesc::dense(node.dtype, node.shape);
        desc.layout = layout;
        signature = intern({desc_interner_.of(desc), signature, unknown});
    }
    return signature;
}

}  // namespace cairn::selection
