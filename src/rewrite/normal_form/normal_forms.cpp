#include "rewrite/normal_form/normal_forms.hpp"

#include "graph/types/small_vector.hpp"

#include <algorithm>

namespace cairn::normal_form {
namespace {

ScaledTerm form_of(const ir::GraphData& graph, ir::NodeId id, std::span<const ScaledTerm> made,
                   Normalizer& normalizer) {
    const ir::Node& node = graph.node(id);
    types::SmallVector<ScaledTerm, 3> operands;
    for (const ir::NodeId operand : node.operands) operands.push_back(made[operand]);
    return normalizer.of(node, id, {operands.data(), operands.size()});
}

}  // namespace

NormalForms::NormalForms(const ir::GraphData& graph, Laws laws, const std::stop_token& stop) : normalizer_(laws) {
    forms_.reserve(graph.nodes().size());
    terms_before_.assign(1, 0);
    for (ir::NodeId id = 0; id < graph.nodes().size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        forms_.push_back(form_of(graph, id, forms_, normalizer_));
        nodes_.add(cells_of(forms_.back()).own, id);
        terms_before_.push_back(normalizer_.size());
    }
}

std::vector<ir::NodeId> NormalForms::nodes_of(const ScaledTerm& form) const {
    std::vector<ir::NodeId> result;
    const ToleranceCells cells = cells_of(form);
    const auto compare = [&](ir::NodeId id) {
        if (normalizer_.same(forms_[id], form)) result.push_back(id);
    };
    nodes_.each(cells.low, compare);
    if (cells.low != cells.high) nodes_.each(cells.high, compare);
    std::sort(result.begin(), result.end());
    return result;
}

bool is_opaque(ir::Op op) {
    const ir::OpClass kind = ir::info(op).kind;
    if (kind == ir::OpClass::leaf || kind == ir::OpClass::elementwise) return false;
    return op != ir::Op::reshape && op != ir::Op::transpose && op != ir::Op::slice;
}

bool is_exponential(ir::Op op) { return op == ir::Op::exp || op == ir::Op::log || op == ir::Op::tanh; }

ir::Op canonical_op(ir::Op op) {
    if (op == ir::Op::tanh) return ir::Op::exp;
    return op == ir::Op::state_append ? ir::Op::concat : op;
}

bool normalize_graph(const ir::GraphData& graph, std::span<const ir::NodeId> inputs, std::span<const ScaledTerm> values,
                     Normalizer& normalizer, std::vector<ScaledTerm>& made,
                     const std::function<bool(ir::NodeId)>& go_on) {
    made.clear();
    for (ir::NodeId id = 0; id < graph.nodes().size(); ++id) {
        const auto it = std::find(inputs.begin(), inputs.end(), id);
        made.push_back(it != inputs.end() ? values[static_cast<std::size_t>(it - inputs.begin())]
                                          : form_of(graph, id, made, normalizer));
        if (!go_on(id)) return false;
    }
    return true;
}

}  // namespace cairn::normal_form
