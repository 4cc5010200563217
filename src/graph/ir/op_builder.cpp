#include "graph/ir/op_builder.hpp"

#include "graph/ir/graph_error.hpp"
#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/types/text_cursor.hpp"

#include <fmt/format.h>

#include <optional>

namespace cairn::ir {
namespace {

using Operands = std::initializer_list<OperandRef>;

// Without a graph the composite is unknown: the op itself is the part.
[[noreturn]] void refuse_in(const GraphData* graph, Op op, const std::string& text, const std::source_location& where) {
    const auto part = graph != nullptr ? graph->part_name(op) : std::string(info(op).name);
    refuse(part, text, graph != nullptr ? graph->place(where) : where);
}

std::string number_text(const Operand& number) {
    return number.is_integral() ? to_string(number.integral()) : types::number_text(number.scalar());
}

const std::shared_ptr<GraphData>& common_graph(Op op, Operands operands) {
    const Operand* first = nullptr;
    for (const Operand& operand : operands)
        if (!operand.is_scalar() && !operand.tensor().empty()) {
            first = &operand;
            break;
        }
    const GraphData* graph = first != nullptr ? first->tensor().graph().get() : nullptr;
    std::size_t index = 0;
    for (const Operand& operand : operands) {
        if (!operand.is_scalar() && operand.tensor().empty())
            refuse_in(graph, op, fmt::format("operand {} is an empty or moved-from Tensor", index), operand.where());
        ++index;
    }
    const Operand& begin = *operands.begin();
    if (first == nullptr && operands.size() == 1)
        refuse_in(graph, op, fmt::format("needs a Tensor, got the number {}", number_text(begin)), begin.where());
    if (first == nullptr) refuse_in(graph, op, "needs a Tensor among its operands, got numbers only", begin.where());
    for (const Operand& operand : operands)
        if (!operand.is_scalar() && operand.tensor().graph().get() != graph) {
            const Node& a = graph->node(first->tensor().id());
            const Node& b = operand.tensor().graph()->node(operand.tensor().id());
            refuse_in(graph, op,
                      fmt::format("operands belong to different graphs: {} of \"{}\", {} of \"{}\"",
                                  to_string(a.dtype, a.shape), graph->name(), to_string(b.dtype, b.shape),
                                  operand.tensor().graph()->name()),
                      operand.where());
        }
    return first->tensor().graph();
}

// The dtype of a scalar at that position, if the op itself determines it.
std::optional<DType> required_dtype(Op op, std::size_t index) {
    if (op == Op::where && index == 0) return DType::boolean;
    if ((op == Op::gather || op == Op::scatter || op == Op::take_along_axis) && index == 1) return DType::i32;
    return std::nullopt;
}

DType dtype_of_peers(const GraphData& graph, Op op, Operands operands) {
    std::size_t index = 0;
    for (const Operand& operand : operands)
        if (!required_dtype(op, index++) && !operand.is_scalar()) return graph.node(operand.tensor().id()).dtype;
    refuse_in(&graph, op, "needs a Tensor beside its numbers, to know their dtype", operands.begin()->get().where());
}

}  // namespace

NodeId scalar_constant(GraphData& graph, Op op, DType dtype, const Operand& number) {
    const auto misfit = [&] {
        refuse_in(&graph, op, fmt::format("the number {} is no {}", number_text(number), to_string(dtype)),
                  number.where());
    };
    if (number.is_integral()) {
        const Dim& integral = number.integral();
        if (integral.is_constant() && !can_hold_integer(dtype, integral.constant())) misfit();
        return add_size(graph, dtype, integral, number.where());
    }
    if (!can_hold(dtype, number.scalar())) misfit();
    const double value = number.scalar();
    return add_constant(graph, dtype, {}, std::span(&value, 1), number.where());
}

const std::shared_ptr<GraphData>& graph_of_tensor(Op op, const Operand& x) { return common_graph(op, {x}); }

Tensor build_op(Op op, std::initializer_list<OperandRef> operands, Attributes attributes) {
    const std::shared_ptr<GraphData> graph = common_graph(op, operands);
    std::vector<NodeId> ids;
    for (const Operand& operand : operands) {
        if (!operand.is_scalar()) {
            ids.push_back(operand.tensor().id());
            continue;
        }
        const auto fixed = required_dtype(op, ids.size());
        const DType dtype = fixed ? *fixed : dtype_of_peers(*graph, op, operands);
        ids.push_back(scalar_constant(*graph, op, dtype, operand));
    }
    const NodeId id = graph->make(op, std::move(ids), std::move(attributes), operands.begin()->get().where());
    return Tensor(graph, id);
}

}  // namespace cairn::ir
