#include "graph/ir/inference_context.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/types/text_cursor.hpp"

#include <fmt/format.h>

namespace cairn::ir {
namespace {

Inferred infer_pad(const InferenceContext& context) {
    const double value = context.number("value");
    const std::size_t axis = context.axis_of_first();
    const Dim &before = context.dim("before"), &after = context.dim("after");
    if (!provably_le(0, before) || !provably_le(0, after))
        context.fail(fmt::format("{} before and {} after axis {} may be negative: {}", to_string(before),
                                 to_string(after), axis, context.text()));
    if (!can_hold(context.node(0).dtype, value))
        context.fail(fmt::format("{} cannot hold the value {}: {}", to_string(context.node(0).dtype),
                                 types::number_text(value), context.text()));
    Shape shape = context.shape(0);
    shape[axis] = before + shape[axis] + after;
    return {context.node(0).dtype, std::move(shape)};
}

Inferred infer_concat(const InferenceContext& context) {
    context.same_dtypes(0, context.size());
    const std::size_t axis = context.axis_of_first();
    Shape shape = context.shape(0);
    for (std::size_t i = 1; i < context.size(); ++i) {
        Shape other = context.shape(i);
        if (other.size() != shape.size()) context.fail("ranks differ: " + context.text());
        const Dim sum = shape[axis] + other[axis];
        other[axis] = shape[axis];
        if (other != shape) context.fail(fmt::format("sizes off axis {} differ: {}", axis, context.text()));
        shape[axis] = sum;
    }
    return {context.node(0).dtype, std::move(shape)};
}

void check_indices(const InferenceContext& context) {
    const DType dtype = context.node(1).dtype;
    if (dtype != DType::i32 && dtype != DType::i64) context.fail("indices must be i32 or i64: " + context.text());
}

Inferred infer_gather(const InferenceContext& context) {
    check_indices(context);
    const std::size_t axis = context.axis_of_first();
    const Shape &x = context.shape(0), &indices = context.shape(1);
    Shape shape(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.end(), indices.begin(), indices.end());
    shape.insert(shape.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
    return {context.node(0).dtype, std::move(shape)};
}

Inferred infer_take_along_axis(const InferenceContext& context) {
    check_indices(context);
    const std::size_t axis = context.axis_of_first();
    Shape shape = context.shape(1);
    if (shape.size() == context.shape(0).size()) shape[axis] = context.shape(0)[axis];
    if (shape != context.shape(0))
        context.fail(fmt::format("indices must have the shape of x but for axis {}: {}", axis, context.text()));
    return {context.node(0).dtype, context.shape(1)};
}

Inferred infer_scatter(const InferenceContext& context) {
    check_indices(context);
    if (context.node(2).dtype != context.node(0).dtype)
        context.fail("dtypes of x and updates differ: " + context.text());
    const std::size_t axis = context.axis_of_first();
    if (context.rank(1) != 1) context.fail("indices must have one axis: " + context.text());
    Shape updates = context.shape(0);
    updates[axis] = context.shape(1)[0];
    if (context.shape(2) != updates)
        context.fail(fmt::format("updates must be {}: {}", to_string(context.node(0).dtype, updates), context.text()));
    return {context.node(0).dtype, context.shape(0)};
}

Inferred infer_bitcast(const InferenceContext& context) {
    context.accepted_dtype(context.node(0));
    const DType dtype = context.dtype();
    if (dtype == DType::boolean) context.fail("the result must not be boolean: " + context.text());
    const std::size_t from = size_of(context.node(0).dtype), to = size_of(dtype);
    Shape shape = context.shape(0);
    if (from > to) shape.emplace_back(static_cast<std::int64_t>(from / to));
    if (from < to) {
        const Dim joined(static_cast<std::int64_t>(to / from));
        if (shape.empty() || !(shape.back() == joined))
            context.fail(fmt::format("for elements of {} the last axis must be {}: {}", to_string(dtype),
                                     to_string(joined), context.text()));
        shape.pop_back();
    }
    return {dtype, std::move(shape)};
}

}  // namespace

Inferred infer_indexing(const InferenceContext& context) {
    static constexpr auto rules =
        std::to_array<OpMapEntry<InferenceFunction>>({{Op::pad, infer_pad},
                                                      {Op::concat, infer_concat},
                                                      {Op::gather, infer_gather},
                                                      {Op::take_along_axis, infer_take_along_axis},
                                                      {Op::scatter, infer_scatter},
                                                      {Op::bitcast, infer_bitcast}});
    return op_entry(rules, context.op(), "infer")(context);
}

Inferred infer_iota(const InferenceContext& context) {
    const DType dtype = context.dtype();
    if (dtype == DType::boolean) context.fail("counts in numbers, not booleans");
    const Dim& length = context.dim("length");
    if (!provably_le(0, length)) context.fail(fmt::format("length {} may be negative", to_string(length)));
    context.dim("start");
    return {dtype, {length}};
}

}  // namespace cairn::ir
