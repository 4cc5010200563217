#include "io/onnx_operators/attention.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cairn::inline v0::onnx {
namespace {

/// `x` as a graph of the node changes it; `x` itself if there is no such graph.
std::optional<Tensor> changed_by(Node& node, std::string_view attribute, const Tensor& x) {
    if (!node.has_attribute(attribute)) return x;
    const auto results = node.importer().import_graph(node.graph_attribute(attribute), {Value::of(x)});
    if (results.size() != 1 || results[0] == nullptr)
        node.refuse(fmt::format("its {} has {} outputs instead of one", attribute, results.size()));
    if (results[0]->kind() == Value::Kind::refused) return std::nullopt;
    const Tensor result = results[0]->tensor(node.graph());
    if (result.shape() != x.shape()) node.refuse(fmt::format("its {} changes the shape", attribute));
    return cast(result, x.dtype());
}

}  // namespace

void make_flex_attention(Node& node) {
    Tensor q = node.tensor(0), k = node.tensor(1), v = node.tensor(2);
    if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) node.refuse("its operands do not have four axes");
    const DType given = q.dtype(), dtype = attention_dtype({given});
    const DType softmax_dtype = softmax_precision(node).value_or(dtype);
    const DType sum_dtype = attention_dtype({dtype, softmax_dtype});
    if (dtype != given) q = cast(q, dtype), k = cast(k, dtype);
    std::optional<double> scale;
    if (node.has_attribute("scale")) scale = node.real("scale");
    if (scale && *scale < 0) node.refuse("its scale is negative");

    const bool is_plain = !node.has_attribute("score_mod") && !node.has_attribute("prob_mod");
    const Dim size = q.dim(3);
    const bool has_scale = scale || (size.is_constant() && size.constant() > 0);
    if (is_plain && has_scale && softmax_dtype == dtype)
        return node.set(0, cast(attention(q, k, cast(v, dtype), {.scale = scale}), given));

    Tensor scores = head_products(node, q, k);
    scores = !has_scale ? scores * rsqrt(node.graph().constant(dtype, size))
                        : scores * scale.value_or(1 / std::sqrt(static_cast<double>(has_scale ? size.constant() : 1)));
    const std::optional<Tensor> changed = changed_by(node, "score_mod", cast(scores, softmax_dtype));
    if (!changed) return node.set(0, Value::refused());
    const std::optional<Tensor> weights = changed_by(node, "prob_mod", softmax(*changed));
    if (!weights) return node.set(0, Value::refused());
    node.set(0, cast(head_sums(node, cast(*weights, sum_dtype), cast(v, sum_dtype)), given));
}

}  // namespace cairn::inline v0::onnx
