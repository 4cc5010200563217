#include "meaning/value.hpp"

namespace cairn::inline v0::meaning {
namespace {

View view_of(const Evaluation& e) {
    const Value& x = e.operand(0);
    const Sizes dense = row_major(x.shape);
    switch (e.node().op) {
        case Op::broadcast: return {broadcast_strides(x.shape, e.shape)};
        case Op::transpose: {
            Sizes strides;
            for (const std::int64_t axis : e.list("permutation"))
                strides.push_back(dense[static_cast<std::size_t>(axis + static_cast<std::int64_t>(dense.size()))]);
            return {strides};
        }
        case Op::slice: {
            View view{dense, e.integer("start") * dense[e.axis()]};
            view.strides[e.axis()] *= e.integer("step");
            return view;
        }
        case Op::window: {
            View view{dense};
            view.strides.push_back(dense[e.axis()] * e.integer("dilation"));
            view.strides[e.axis()] *= e.integer("stride");
            return view;
        }
        default: return {row_major(e.shape)};  // reshape
    }
}

}  // namespace

Value evaluate_movement(const Evaluation& e) {
    Value out = e.result();
    const auto from = places(e.shape, view_of(e));
    with_storage(
        out.dtype,
        [&](auto& to, const auto& x) {
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = x[static_cast<std::size_t>(from[i])];
        },
        out, e.operand(0));
    return out;
}

}  // namespace cairn::inline v0::meaning
