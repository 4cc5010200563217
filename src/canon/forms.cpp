#include "canon/forms.hpp"

#include "types/short_list.hpp"

#include <algorithm>

namespace cairn::inline v0::canon {
namespace {

Scaled form_of(const ir::GraphData& graph, ir::NodeId id, std::span<const Scaled> made, Canon& canon) {
    const ir::Node& node = graph.node(id);
    types::ShortList<Scaled, 3> operands;
    for (const ir::NodeId operand : node.operands) operands.push_back(made[operand]);
    return canon.of(node, id, {operands.data(), operands.size()});
}

}  // namespace

Forms::Forms(const ir::GraphData& graph, Laws laws, const std::stop_token& stop) : canon_(laws) {
    forms_.reserve(graph.nodes().size());
    terms_before_.assign(1, 0);
    for (ir::NodeId id = 0; id < graph.nodes().size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        forms_.push_back(form_of(graph, id, forms_, canon_));
        nodes_.add(cells_of(forms_.back()).own, id);
        terms_before_.push_back(canon_.size());
    }
}

std::vector<ir::NodeId> Forms::nodes_of(const Scaled& form) const {
    std::vector<ir::NodeId> result;
    const Cells cells = cells_of(form);
    const auto look = [&](ir::NodeId id) {
        if (canon_.same(forms_[id], form)) result.push_back(id);
    };
    nodes_.each(cells.low, look);
    if (cells.low != cells.high) nodes_.each(cells.high, look);
    std::sort(result.begin(), result.end());
    return result;
}

bool stays_whole(ir::Op op) {
    const ir::OpClass kind = ir::info(op).kind;
    if (kind == ir::OpClass::leaf || kind == ir::OpClass::elementwise) return false;
    return op != ir::Op::reshape && op != ir::Op::transpose && op != ir::Op::slice;
}

bool is_exponential(ir::Op op) { return op == ir::Op::exp || op == ir::Op::log || op == ir::Op::tanh; }

ir::Op shown_as(ir::Op op) { return op == ir::Op::tanh ? ir::Op::exp : op; }

bool forms_over(const ir::GraphData& graph, std::span<const ir::NodeId> inputs, std::span<const Scaled> values,
                Canon& canon, std::vector<Scaled>& made, const std::function<bool(ir::NodeId)>& go_on) {
    made.clear();
    for (ir::NodeId id = 0; id < graph.nodes().size(); ++id) {
        const auto it = std::find(inputs.begin(), inputs.end(), id);
        made.push_back(it != inputs.end() ? values[static_cast<std::size_t>(it - inputs.begin())]
                                          : form_of(graph, id, made, canon));
        if (!go_on(id)) return false;
    }
    return true;
}

}  // namespace cairn::inline v0::canon
