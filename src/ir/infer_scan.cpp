#include "ir/shape_rule.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

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
    if (!provably_le(rule.shape(0)[axis], std::numeric_limits<std::int32_t>::max()))
        rule.fail(fmt::format("axis {} may be too long for indices of 32 bits: {}", axis, rule.text()));
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
