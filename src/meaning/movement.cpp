#include "meaning/value.hpp"

namespace cairn::inline v0::meaning {
namespace {

View of_reshape(const Evaluation& e) { return {row_major(e.shape)}; }

View of_broadcast(const Evaluation& e) { return {broadcast_strides(e.operand(0).shape, e.shape)}; }

View of_transpose(const Evaluation& e) {
    const Sizes dense = row_major(e.operand(0).shape);
    Sizes strides;
    for (const std::int64_t axis : e.list("permutation"))
        strides.push_back(dense[static_cast<std::size_t>(axis + static_cast<std::int64_t>(dense.size()))]);
    return {strides};
}

View of_slice(const Evaluation& e) {
    const Sizes dense = row_major(e.operand(0).shape);
    View view{dense, e.integer("start") * dense[e.axis()]};
    view.strides[e.axis()] *= e.integer("step");
    return view;
}

View of_window(const Evaluation& e) {
    const Sizes dense = row_major(e.operand(0).shape);
    View view{dense};
    view.strides.push_back(dense[e.axis()] * e.integer("dilation"));
    view.strides[e.axis()] *= e.integer("stride");
    return view;
}

constexpr auto views = std::to_array<OpEntry<View (*)(const Evaluation&)>>({{Op::reshape, of_reshape},
                                                                            {Op::broadcast, of_broadcast},
                                                                            {Op::transpose, of_transpose},
                                                                            {Op::slice, of_slice},
                                                                            {Op::window, of_window}});

}  // namespace

Value evaluate_movement(const Evaluation& e) {
    Value out = e.result();
    const auto from = places(e.shape, entry_of(views, e.node().op, "interpret")(e));
    with_storage(
        out.dtype,
        [&](auto& to, const auto& x) {
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = x[static_cast<std::size_t>(from[i])];
        },
        out, e.operand(0));
    return out;
}

}  // namespace cairn::inline v0::meaning
