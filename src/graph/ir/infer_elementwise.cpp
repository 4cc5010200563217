#include "graph/ir/inference_context.hpp"

namespace cairn::ir {
namespace {

Shape common_shape(const InferenceContext& context) {
    Shape shape = context.shape(0);
    for (std::size_t i = 1; i < context.size(); ++i) {
        auto broadcast_shape = broadcast_shapes(shape, context.shape(i));
        if (!broadcast_shape) context.fail("shapes do not broadcast: " + context.text());
        shape = std::move(*broadcast_shape);
    }
    return shape;
}

}  // namespace

Inferred infer_elementwise(const InferenceContext& context) {
    if (context.op() == Op::cast) return {context.dtype(), context.shape(0)};
    if (context.op() == Op::where) {
        if (context.node(0).dtype != DType::boolean) context.fail("the condition must be boolean: " + context.text());
        context.same_dtypes(1, 3);
        return {context.node(1).dtype, common_shape(context)};
    }
    for (std::size_t i = 0; i < context.size(); ++i) context.accepted_dtype(context.node(i));
    context.same_dtypes(0, context.size());
    const bool compares = info(context.op()).has(OpTrait::compares);
    return {compares ? DType::boolean : context.node(0).dtype, common_shape(context)};
}

}  // namespace cairn::ir
