#include "ir/shape_rule.hpp"

namespace cairn::inline v0::ir {

Inferred infer_matmul(const ShapeRule& rule) {
    rule.same_dtypes(0, 2);
    rule.accepted_dtype(rule.node(0));
    const Shape &a = rule.shape(0), &b = rule.shape(1);
    if (a.size() < 2 || b.size() < 2) rule.fail("operands need at least two axes: " + rule.text());
    if (!(a.back() == b[b.size() - 2])) rule.fail("inner dims differ: " + rule.text());
    auto shape = broadcast_shapes({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    if (!shape) rule.fail("leading axes do not broadcast: " + rule.text());
    shape->push_back(a[a.size() - 2]);
    shape->push_back(b.back());
    return {rule.node(0).dtype, std::move(*shape)};
}

}  // namespace cairn::inline v0::ir
