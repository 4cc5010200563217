#include "graph/ir/inference_context.hpp"

namespace cairn::ir {

Inferred infer_matmul(const InferenceContext& context) {
    context.same_dtypes(0, 2);
    context.accepted_dtype(context.node(0));
    const Shape &a = context.shape(0), &b = context.shape(1);
    if (a.size() < 2 || b.size() < 2) context.fail("operands need at least two axes: " + context.text());
    if (!(a.back() == b[b.size() - 2])) context.fail("inner dims differ: " + context.text());
    auto shape = broadcast_shapes({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    if (!shape) context.fail("leading axes do not broadcast: " + context.text());
    shape->push_back(a[a.size() - 2]);
    shape->push_back(b.back());
    return {context.node(0).dtype, std::move(*shape)};
}

}  // namespace cairn::ir
