#include "ir/shape_rule.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

namespace cairn::inline v0::ir {

Inferred infer_scan(const ShapeRule& rule) {
    rule.accepted_dtype(rule.node(0));
    const std::size_t axis = rule.axis_of_first();
    if (rule.op() == Op::cumsum) return {rule.node(0).dtype, rule.shape(0)};
    const std::int64_t descending = rule.integer("descending");
    if (descending != 0 && descending != 1) rule.fail(fmt::format("descending must be 0 or 1, got {}", descending));
    if (!provably_le(rule.shape(0)[axis], std::numeric_limits<std::int32_t>::max()))
        rule.fail(fmt::format("axis {} may be too long for indices of 32 bits: {}", axis, rule.text()));
    return {DType::i32, rule.shape(0)};
}

}  // namespace cairn::inline v0::ir
