#include "graph/ir/inference_context.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace cairn::ir {
namespace {

Inferred infer_cumsum(const InferenceContext& context) {
    context.axis_of_first();
    return {context.node(0).dtype, context.shape(0)};
}

Inferred infer_argsort(const InferenceContext& context) {
    const std::size_t axis = context.axis_of_first();
    const std::int64_t descending = context.integer("descending");
    if (descending != 0 && descending != 1) context.fail(fmt::format("descending must be 0 or 1, got {}", descending));
    context.need_i32_indices(axis);
    return {DType::i32, context.shape(0)};
}

}  // namespace

Inferred infer_scan(const InferenceContext& context) {
    static constexpr auto rules =
        std::to_array<OpMapEntry<InferenceFunction>>({{Op::cumsum, infer_cumsum}, {Op::argsort, infer_argsort}});
    context.accepted_dtype(context.node(0));
    return op_entry(rules, context.op(), "infer")(context);
}

}  // namespace cairn::ir
