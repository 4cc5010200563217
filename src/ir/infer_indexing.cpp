#include "ir/number.hpp"
#include "ir/shape_rule.hpp"
#include "types/text_cursor.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::ir {
namespace {

Inferred infer_pad(const ShapeRule& rule) {
    const double value = rule.number("value");
    const std::size_t axis = rule.axis_of_first();
    const Dim &before = rule.dim("before"), &after = rule.dim("after");
    if (!provably_le(0, before) || !provably_le(0, after))
        rule.fail(fmt::format("{} before and {} after axis {} may be negative: {}", to_string(before), to_string(after),
                              axis, rule.text()));
    if (!can_hold(rule.node(0).dtype, value))
        rule.fail(fmt::format("{} cannot hold the value {}: {}", to_string(rule.node(0).dtype),
                              types::number_text(value), rule.text()));
    Shape shape = rule.shape(0);
    shape[axis] = before + shape[axis] + after;
    return {rule.node(0).dtype, std::move(shape)};
}

Inferred infer_concat(const ShapeRule& rule) {
    rule.same_dtypes(0, rule.size());
    const std::size_t axis = rule.axis_of_first();
    Shape shape = rule.shape(0);
    for (std::size_t i = 1; i < rule.size(); ++i) {
        Shape other = rule.shape(i);
        if (other.size() != shape.size()) rule.fail("ranks differ: " + rule.text());
        const Dim sum = shape[axis] + other[axis];
        other[axis] = shape[axis];
        if (other != shape) rule.fail(fmt::format("sizes off axis {} differ: {}", axis, rule.text()));
        shape[axis] = sum;
    }
    return {rule.node(0).dtype, std::move(shape)};
}

void check_indices(const ShapeRule& rule) {
    const DType dtype = rule.node(1).dtype;
    if (dtype != DType::i32 && dtype != DType::i64) rule.fail("indices must be i32 or i64: " + rule.text());
}

Inferred infer_gather(const ShapeRule& rule) {
    check_indices(rule);
    const std::size_t axis = rule.axis_of_first();
    const Shape &x = rule.shape(0), &indices = rule.shape(1);
    Shape shape(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.end(), indices.begin(), indices.end());
    shape.insert(shape.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
    return {rule.node(0).dtype, std::move(shape)};
}

Inferred infer_take_along_axis(const ShapeRule& rule) {
    check_indices(rule);
    const std::size_t axis = rule.axis_of_first();
    Shape shape = rule.shape(1);
    if (shape.size() == rule.shape(0).size()) shape[axis] = rule.shape(0)[axis];
    if (shape != rule.shape(0))
        rule.fail(fmt::format("indices must have the shape of x but for axis {}: {}", axis, rule.text()));
    return {rule.node(0).dtype, rule.shape(1)};
}

Inferred infer_scatter(const ShapeRule& rule) {
    check_indices(rule);
    if (rule.node(2).dtype != rule.node(0).dtype) rule.fail("dtypes of x and updates differ: " + rule.text());
    const std::size_t axis = rule.axis_of_first();
    if (rule.rank(1) != 1) rule.fail("indices must have one axis: " + rule.text());
    Shape updates = rule.shape(0);
    updates[axis] = rule.shape(1)[0];
    if (rule.shape(2) != updates)
        rule.fail(fmt::format("updates must be {}: {}", to_string(rule.node(0).dtype, updates), rule.text()));
    return {rule.node(0).dtype, rule.shape(0)};
}

}  // namespace

Inferred infer_indexing(const ShapeRule& rule) {
    static constexpr auto rules = std::to_array<OpEntry<RuleFunction>>({{Op::pad, infer_pad},
                                                                        {Op::concat, infer_concat},
                                                                        {Op::gather, infer_gather},
                                                                        {Op::take_along_axis, infer_take_along_axis},
                                                                        {Op::scatter, infer_scatter}});
    return entry_of(rules, rule.op(), "infer")(rule);
}

Inferred infer_iota(const ShapeRule& rule) {
    const std::int64_t dtype = rule.integer("dtype");
    if (dtype < 0 || dtype > static_cast<std::int64_t>(DType::boolean))
        rule.fail(fmt::format("there is no dtype number {}", dtype));
    if (static_cast<DType>(dtype) == DType::boolean) rule.fail("counts in numbers, not booleans");
    const Dim& length = rule.dim("length");
    if (!provably_le(0, length)) rule.fail(fmt::format("length {} may be negative", to_string(length)));
    rule.dim("start");
    return {static_cast<DType>(dtype), {length}};
}

}  // namespace cairn::inline v0::ir
