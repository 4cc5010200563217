#include "cairn/ops.hpp"
#include "graph/ir/op_builder.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/device_code.hpp"

#include <fmt/format.h>

namespace cairn::inline v0 {

using ir::build_op;
using ir::Op;
using List = std::vector<Dim>;

namespace {

// An axis 0 .. rank - 1 for ops that are built from another op: errors name the function that the caller used.
std::size_t front_axis(Op op, std::string_view name, const Operand& x, int axis, int rank) {
    if (axis >= -rank && axis < rank) return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    const auto& graph = ir::graph_of_tensor(op, x);
    throw Error(
        ErrorKind::graph, graph->part_name(name),
        fmt::format("axis {} is out of range for x {}", axis, to_string(x.tensor().dtype(), x.tensor().shape())),
        graph->place(x.where()));
}

}  // namespace

Tensor reshape(const Operand& x, Shape shape) { return build_op(Op::reshape, {x}, {{"shape", std::move(shape)}}); }

Tensor transpose(const Operand& x, std::vector<int> permutation) {
    return build_op(Op::transpose, {x}, {{"permutation", ir::dims(permutation)}});
}

Tensor broadcast(const Operand& x, Shape shape) { return build_op(Op::broadcast, {x}, {{"shape", std::move(shape)}}); }

Tensor slice(const Operand& x, int axis, const Dim& start, const Dim& stop, std::int64_t step) {
    return build_op(Op::slice, {x},
                    {{"axis", List{axis}}, {"start", List{start}}, {"stop", List{stop}}, {"step", List{step}}});
}

Tensor window(const Operand& x, int axis, std::int64_t size, std::int64_t stride, std::int64_t dilation) {
    return build_op(
        Op::window, {x},
        {{"axis", List{axis}}, {"size", List{size}}, {"stride", List{stride}}, {"dilation", List{dilation}}});
}

Tensor copy_to(const Operand& x, Device device) {
    return build_op(Op::copy_to, {x}, {{"device", List{types::device_code(device)}}});
}

Tensor unsqueeze(const Operand& x, int axis) {
    ir::graph_of_tensor(Op::reshape, x);
    Shape shape = x.tensor().shape();
    const auto at = front_axis(Op::reshape, "unsqueeze", x, axis, x.tensor().rank() + 1);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), Dim(1));
    return reshape(x, std::move(shape));
}

Tensor swap_axes(const Operand& x, int a, int b) {
    ir::graph_of_tensor(Op::transpose, x);
    const int rank = x.tensor().rank();
    std::vector<int> permutation;
    for (int i = 0; i < rank; ++i) permutation.push_back(i);
    std::swap(permutation[front_axis(Op::transpose, "swap_axes", x, a, rank)],
              permutation[front_axis(Op::transpose, "swap_axes", x, b, rank)]);
    return transpose(x, std::move(permutation));
}

}  // namespace cairn::inline v0
