#pragma once

#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"

#include <functional>
#include <initializer_list>
#include <string_view>

/// Construction of nodes from a public op's operands: finds the graph, converts scalars to constants, rejects empty
/// handles and mixed graphs.
///
///     build_op(Op::add, {a, b})        // x + 0.5 with x bf16[N]: constant 0.5 : bf16[], then add
namespace cairn::ir {

using OperandRef = std::reference_wrapper<const Operand>;

/// A node `op` on the operands. A scalar becomes a constant of the dtype that its position requires: boolean for a
/// condition, i32 for indices, else the dtype of the tensor operands. Throws Error(graph) with the op's name and the
/// line of the first operand.
Tensor build_op(Op op, std::initializer_list<OperandRef> operands, Attributes attributes = {});

/// The graph of an operand that must be a tensor.
const std::shared_ptr<GraphData>& graph_of_tensor(Op op, const Operand& x);

/// A rank-0 node with the value of a scalar operand, rounded to a float dtype; rejected if another dtype cannot
/// represent it.
NodeId scalar_constant(GraphData& graph, Op op, DType dtype, const Operand& number);

}  // namespace cairn::ir
