#include "ir/shape_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::ir {
namespace {

Inferred infer_argmax(const ShapeRule& rule) {
    const std::size_t axis = rule.axis_of_first();
    Shape shape = rule.shape(0);
    if (!provably_le(1, shape[axis])) rule.fail(fmt::format("axis {} may be empty: {}", axis, rule.text()));
    rule.need_i32_indices(axis);
    shape[axis] = 1;
    return {DType::i32, std::move(shape)};
}

// The axes stay, with size 1.
Inferred infer_over_axes(const ShapeRule& rule) {
    const std::int64_t rank = rule.rank(0);
    std::vector<Dim>& list = rule.dims("axes");
    std::vector<std::int64_t> axes;
    for (const Dim& dim : list) {
        if (!dim.is_constant()) rule.fail("axes must be constants, got " + to_string(dim));
        axes.push_back(rule.axis(dim.constant(), rank));
    }
    if (list.empty())
        for (std::int64_t axis = -rank; axis < 0; ++axis) axes.push_back(axis);
    std::sort(axes.begin(), axes.end());
    if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
        rule.fail(fmt::format("axis {} is given twice: {}", *twice, rule.text()));

    Shape shape = rule.shape(0);
    for (const std::int64_t axis : axes) shape[static_cast<std::size_t>(rank + axis)] = 1;
    list.assign(axes.begin(), axes.end());
    return {rule.node(0).dtype, std::move(shape)};
}

}  // namespace

Inferred infer_reduction(const ShapeRule& rule) {
    static constexpr auto rules = std::to_array<OpEntry<RuleFunction>>({{Op::sum, infer_over_axes},
                                                                        {Op::max_reduce, infer_over_axes},
                                                                        {Op::prod, infer_over_axes},
                                                                        {Op::argmax, infer_argmax}});
    rule.accepted_dtype(rule.node(0));
    return entry_of(rules, rule.op(), "infer")(rule);
}

}  // namespace cairn::inline v0::ir
