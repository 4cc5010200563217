#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"

namespace cairn::inline v0 {

CompositeScope::CompositeScope(std::string_view name, const Operand& operand) {
    const auto refuse = [&](const std::string& text) { throw Error(ErrorKind::graph, name, text, operand.where()); };
    if (operand.is_scalar()) refuse("operand 0 must be a Tensor, got a number");
    if (operand.tensor().empty()) refuse("operand 0 is an empty or moved-from Tensor");
    graph_ = operand.tensor().graph();
    graph_->enter_composite(name, operand.where());
}

CompositeScope::~CompositeScope() { graph_->leave_composite(); }

void CompositeScope::fail(std::string_view message) const {
    throw Error(ErrorKind::graph, graph_->part_name(""), message, graph_->place({}));
}

}  // namespace cairn::inline v0
