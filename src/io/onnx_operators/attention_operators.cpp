#include "io/onnx_operators/attention.hpp"
#include "io/onnx_operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cairn::inline v0::onnx {
namespace {

/// Query heads of each key head.
Dim heads_per_key_head(const Node& node, const Dim& heads, const Dim& key_heads) {
    if (heads == key_heads) return 1;
    if (provably_le(1, key_heads))
        if (Dim group = floordiv(heads, key_heads); group * key_heads == heads) return group;
    node.refuse(fmt::format("its {} query heads are no multiple of the {} heads of keys and values",
                            cairn::to_string(heads), cairn::to_string(key_heads)));
}

constexpr std::array<Operator, 5> attention_rows{{{"Attention", 23, make_attention},
                                                  {"FlexAttention", 1, make_flex_attention, nullptr, "ai.onnx.preview"},
                                                  {"LinearAttention", 27, make_linear_attention},
                                                  {"RotaryEmbedding", 23, make_rotary_embedding},
                                                  {"TensorScatter", 24, make_tensor_scatter}}};

}  // namespace

Tensor head_products(const Node& node, const Tensor& q, const Tensor& k) {
    const Dim group = heads_per_key_head(node, q.dim(1), k.dim(1));
    const Tensor keys = swap_axes(k, -1, -2);
    if (group == Dim(1)) return matmul(q, keys);
    const Shape &a = q.shape(), &b = keys.shape();
    const Tensor products =
        matmul(reshape(q, {a[0], b[1], group, a[2], a[3]}), reshape(keys, {b[0], b[1], 1, b[2], b[3]}));
    return reshape(products, {a[0], a[1], a[2], b[3]});
}

Tensor head_sums(const Node& node, const Tensor& weights, const Tensor& v) {
    const Dim group = heads_per_key_head(node, weights.dim(1), v.dim(1));
    if (group == Dim(1)) return matmul(weights, v);
    const Shape &a = weights.shape(), &b = v.shape();
    const Tensor sums =
        matmul(reshape(weights, {a[0], b[1], group, a[2], a[3]}), reshape(v, {b[0], b[1], 1, b[2], b[3]}));
    return reshape(sums, {a[0], a[1], a[2], b[3]});
}

DType attention_dtype(std::initializer_list<DType> dtypes) noexcept {
    return std::ranges::find(dtypes, DType::f64) != dtypes.end() ? DType::f64 : DType::f32;
}

Tensor split_heads(const Node& node, const Tensor& packed, std::int64_t heads) {
    const Dim size = packed.dim(2);
    if (heads < 1 || !(floordiv(size, heads) * heads == size))
        node.refuse(fmt::format("a size of {} is no multiple of {} heads", cairn::to_string(size), heads));
    return reshape(packed, {packed.dim(0), packed.dim(1), heads, floordiv(size, heads)});
}

Tensor joined_heads(const Tensor& x) { return reshape(swap_axes(x, 1, 2), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)}); }

std::optional<DType> softmax_precision(const Node& node) {
    if (!node.has_attribute("softmax_precision")) return std::nullopt;
    const ElementType type = node.element_type("softmax_precision", ElementType::undefined);
    if (!is_float_type(type))
        node.refuse(fmt::format("its softmax_precision is {}, which is no float type", to_string(type)));
    return dtype_of(type);
}

std::span<const Operator> attention_operators() { return attention_rows; }

}  // namespace cairn::inline v0::onnx
