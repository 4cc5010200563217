#include "ir/shape_rule.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace cairn::inline v0::ir {
namespace {

Inferred infer_cumsum(const ShapeRule& rule) {
    rule.axis_of_first();
    return {rule.node(0).dtype, rule.shape(0)};
}

Inferred infer_argsort(const ShapeRule& rule) {
    const std::size_t axis = rule.axis_of_first();
    const std::int64_t descending = rule.integer("descending");
    if (descending != 0 && descending != 1) rule.fail(fmt::format("descending must be 0 or 1, got {}", descending));
    rule.need_i32_indices(axis);
    return {DType::i32, rule.shape(0)};
}

}  // namespace

Inferred infer_scan(const ShapeRule& rule) {
    static constexpr auto rules =
        std::to_array<OpEntry<RuleFunction>>({{Op::cumsum, infer_cumsum}, {Op::argsort, infer_argsort}});
    rule.accepted_dtype(rule.node(0));
    return entry_of(rules, rule.op(), "infer")(rule);
}

}  // namespace cairn::inline v0::ir
