#include "graph/interpreter/evaluation.hpp"

namespace cairn::interpreter {
namespace {

View reshape_view(const Evaluation& e) { return {row_major(e.shape)}; }

View broadcast_view(const Evaluation& e) { return {broadcast_strides(e.operand(0).shape, e.shape)}; }

View transpose_view(const Evaluation& e) {
    const Sizes dense = row_major(e.operand(0).shape);
    Sizes strides;
    for (const std::int64_t axis : e.list("permutation"))
        strides.push_back(dense[static_cast<std::size_t>(axis + static_cast<std::int64_t>(dense.size()))]);
    return {strides};
}

View slice_view(const Evaluation& e) {
    const Sizes dense = row_major(e.operand(0).shape);
    View view{dense, e.integer("start") * dense[e.axis()]};
    view.strides[e.axis()] *= e.integer("step");
    return view;
}

View window_view(const Evaluation& e) {
    const Sizes dense = row_major(e.operand(0).shape);
    View view{dense};
    view.strides.push_back(dense[e.axis()] * e.integer("dilation"));
    view.strides[e.axis()] *= e.integer("stride");
    return view;
}

constexpr auto views = std::to_array<OpMapEntry<View (*)(const Evaluation&)>>({{Op::reshape, reshape_view},
                                                                               {Op::broadcast, broadcast_view},
                                                                               {Op::transpose, transpose_view},
                                                                               {Op::slice, slice_view},
                                                                               {Op::window, window_view}});

}  // namespace

Value evaluate_movement(const Evaluation& e) {
    Value out = e.result();
    const auto from = element_offsets(e.shape, op_entry(views, e.node().op, "interpret")(e));
    visit_storage(
        out.dtype,
        [&](auto& to, const auto& x) {
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = x[static_cast<std::size_t>(from[i])];
        },
        out, e.operand(0));
    return out;
}

}  // namespace cairn::interpreter
