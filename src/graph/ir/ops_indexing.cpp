#include "cairn/ops.hpp"
#include "graph/ir/op_builder.hpp"
#include "graph/ir/op_table.hpp"

#include <fmt/format.h>

namespace cairn::inline v0 {

using ir::build_op;
using ir::Op;
using List = std::vector<Dim>;

Tensor pad(const Operand& x, int axis, const Dim& before, const Dim& after, double value) {
    return build_op(Op::pad, {x},
                    {{"axis", List{axis}}, {"before", List{before}}, {"after", List{after}}, {"value", value}});
}

Tensor concat(std::span<const Tensor> tensors, int axis, std::source_location where) {
    if (tensors.empty()) throw Error(ErrorKind::graph, "concat", "takes 1 or more operands, got 0", where);
    const std::shared_ptr<ir::GraphData> graph = tensors.front().graph();
    std::vector<ir::NodeId> ids;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& tensor = tensors[i];
        const auto refuse = [&](const std::string& text) {
            const auto part = graph ? graph->part_name(Op::concat) : std::string("concat");
            throw Error(ErrorKind::graph, part, text, graph ? graph->place(where) : where);
        };
        if (tensor.empty()) refuse(fmt::format("operand {} is an empty or moved-from Tensor", i));
        if (tensor.graph() != graph)
            refuse(fmt::format("operands belong to different graphs: {} of \"{}\", {} of \"{}\"",
                               to_string(tensors[0].dtype(), tensors[0].shape()), graph->name(),
                               to_string(tensor.dtype(), tensor.shape()), tensor.graph()->name()));
        ids.push_back(tensor.id());
    }
    return Tensor(graph, graph->make(Op::concat, std::move(ids), {{"axis", List{axis}}}, where));
}

Tensor concat(std::initializer_list<Tensor> tensors, int axis, std::source_location where) {
    return concat(std::span(tensors.begin(), tensors.size()), axis, where);
}

Tensor gather(const Operand& x, const Operand& indices, int axis) {
    return build_op(Op::gather, {x, indices}, {{"axis", List{axis}}});
}

Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates, int axis) {
    return build_op(Op::scatter, {x, indices, updates}, {{"axis", List{axis}}});
}

Tensor take_along_axis(const Operand& x, const Operand& indices, int axis) {
    return build_op(Op::take_along_axis, {x, indices}, {{"axis", List{axis}}});
}

Tensor bitcast(const Operand& x, DType dtype) {
    return build_op(Op::bitcast, {x}, {{"dtype", List{static_cast<int>(dtype)}}});
}

Tensor iota(const Graph& graph, const Dim& length, DType dtype, const Dim& start, std::source_location where) {
    const auto id = graph.data()->make(
        Op::iota, {}, {{"length", List{length}}, {"start", List{start}}, {"dtype", List{static_cast<int>(dtype)}}},
        where);
    return Tensor(graph.data(), id);
}

}  // namespace cairn::inline v0
