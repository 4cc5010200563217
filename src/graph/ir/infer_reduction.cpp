#include "graph/ir/inference_context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::ir {
namespace {

Inferred infer_argmax(const InferenceContext& context) {
    const std::size_t axis = context.axis_of_first();
    Shape shape = context.shape(0);
    if (!provably_le(1, shape[axis])) context.fail(fmt::format("axis {} may be empty: {}", axis, context.text()));
    context.need_i32_indices(axis);
    shape[axis] = 1;
    return {DType::i32, std::move(shape)};
}

// The reduced axes stay, with size 1.
Inferred infer_over_axes(const InferenceContext& context) {
    const std::int64_t rank = context.rank(0);
    std::vector<Dim>& list = context.dims("axes");
    std::vector<std::int64_t> axes;
    for (const Dim& dim : list) {
        if (!dim.is_constant()) context.fail("axes must be constants, got " + to_string(dim));
        axes.push_back(context.axis(dim.constant(), rank));
    }
    if (list.empty())
        for (std::int64_t axis = -rank; axis < 0; ++axis) axes.push_back(axis);
    std::sort(axes.begin(), axes.end());
    if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
        context.fail(fmt::format("axis {} is given twice: {}", *twice, context.text()));

    Shape shape = context.shape(0);
    for (const std::int64_t axis : axes) shape[static_cast<std::size_t>(rank + axis)] = 1;
    list.assign(axes.begin(), axes.end());
    return {context.node(0).dtype, std::move(shape)};
}

}  // namespace

Inferred infer_reduction(const InferenceContext& context) {
    static constexpr auto rules = std::to_array<OpMapEntry<InferenceFunction>>({{Op::sum, infer_over_axes},
                                                                                {Op::max_reduce, infer_over_axes},
                                                                                {Op::prod, infer_over_axes},
                                                                                {Op::argmax, infer_argmax}});
    context.accepted_dtype(context.node(0));
    return op_entry(rules, context.op(), "infer")(context);
}

}  // namespace cairn::ir
