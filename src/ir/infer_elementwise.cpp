#include "ir/shape_rule.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::ir {
namespace {

Shape joint_shape(const ShapeRule& rule) {
    Shape shape = rule.shape(0);
    for (std::size_t i = 1; i < rule.size(); ++i) {
        auto joined = broadcast_shapes(shape, rule.shape(i));
        if (!joined) rule.fail("shapes do not broadcast: " + rule.text());
        shape = std::move(*joined);
    }
    return shape;
}

DType cast_dtype(const ShapeRule& rule) {
    const std::int64_t dtype = rule.integer("dtype");
    if (dtype < 0 || dtype > static_cast<std::int64_t>(DType::boolean))
        rule.fail(fmt::format("there is no dtype number {}", dtype));
    return static_cast<DType>(dtype);
}

}  // namespace

Inferred infer_elementwise(const ShapeRule& rule) {
    if (rule.op() == Op::cast) return {cast_dtype(rule), rule.shape(0)};
    if (rule.op() == Op::where) {
        if (rule.node(0).dtype != DType::boolean) rule.fail("the condition must be boolean: " + rule.text());
        rule.same_dtypes(1, 3);
        return {rule.node(1).dtype, joint_shape(rule)};
    }
    for (std::size_t i = 0; i < rule.size(); ++i) rule.accepted_dtype(rule.node(i));
    rule.same_dtypes(0, rule.size());
    const bool compares = info(rule.op()).has(Fact::compares);
    return {compares ? DType::boolean : rule.node(0).dtype, joint_shape(rule)};
}

}  // namespace cairn::inline v0::ir
