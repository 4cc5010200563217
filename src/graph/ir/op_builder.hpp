#pragma once

#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"

#include <functional>
#include <initializer_list>
#include <string_view>

/// From a public op's operands to a node: finds the graph, lifts scalars, refuses empty handles and mixed graphs.
///
///     call(Op::add, {a, b})        // x + 0.5 with x bf16[N]: constant 0.5 : bf16[], then add
namespace cairn::ir {

using OperandRef = std::reference_wrapper<const Operand>;

/// A node `op` on the operands. A scalar becomes a constant of the dtype its place asks for: boolean for a condition,
/// i32 for indices, else that of the tensors beside it. Throws Error(graph) with the op's name and the line of the
/// first operand.
Tensor build_op(Op op, std::initializer_list<OperandRef> operands, Attributes attributes = {});

/// The graph behind an operand that must be a tensor.
const std::shared_ptr<GraphData>& graph_of_tensor(Op op, const Operand& x);

/// A rank-0 node with the value of a scalar operand, rounded to a float dtype; refused where another dtype has no such
/// element.
NodeId scalar_constant(GraphData& graph, Op op, DType dtype, const Operand& number);

}  // namespace cairn::ir
