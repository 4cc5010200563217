#include "cairn/composites.hpp"
#include "graph/composites/f32_compute.hpp"
#include "graph/composites/typed_name.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

namespace cairn::inline v0 {
namespace {

using composites::is_16_bit_float;
using composites::narrowed;
using composites::typed_name;
using composites::widened;

double lowest(DType dtype) {
    switch (dtype) {
        case DType::f64: return std::numeric_limits<double>::lowest();
        case DType::f16: return -65504;
        case DType::bf16: return -0x1.fep127;
        default: return std::numeric_limits<float>::lowest();
    }
}

/// The sizes of one call: q [B, H, T, D], k and v [B, G, S, D], with H = G * group.
struct Sizes {
    Dim batch, heads, queries, key_heads, keys, group;
    /// Equal heads and a single key head broadcast as they are; otherwise an axis holds the query heads of each key
    /// head.
    bool is_grouped() const { return !(heads == key_heads) && !(key_heads == Dim(1)); }
};

Sizes check(const CompositeScope& scope, const Operand& q, const Operand& k, const Operand& v) {
    for (const Operand* operand : {&q, &k, &v})
        if (operand->is_scalar() || operand->tensor().empty()) scope.fail("q, k and v must be Tensors");
    const std::string all = typed_name("q", q) + ", " + typed_name("k", k) + ", " + typed_name("v", v);
    for (const Operand* operand : {&q, &k, &v})
        if (operand->tensor().rank() != 4) scope.fail("q, k and v need four axes: " + all);
    for (const Operand* operand : {&k, &v})
        if (operand->tensor().dtype() != q.tensor().dtype()) scope.fail("dtypes differ, cast one of them: " + all);
    const Shape &a = q.tensor().shape(), &b = k.tensor().shape(), &c = v.tensor().shape();
    if (!(a[0] == b[0] && b[0] == c[0])) scope.fail("batches differ: " + all);
    if (!(b[1] == c[1] && b[2] == c[2])) scope.fail("k and v differ in heads or keys: " + all);
    if (!(a[3] == b[3])) scope.fail("head sizes of q and k differ: " + all);
    Dim group = 1;
    if (!(a[1] == b[1])) {
        if (!provably_le(1, b[1])) scope.fail("k and v may have no head: " + all);
        group = floordiv(a[1], b[1]);
        if (!(group * b[1] == a[1])) scope.fail("the heads of q are no multiple of those of k: " + all);
    }
    return {a[0], a[1], a[2], b[1], b[2], group};
}

/// The position of each query among the keys: the queries are the last ones.
Tensor query_positions(const Graph& graph, const Dim& queries, const Dim& keys) {
    return reshape(iota(graph, queries, DType::i32, keys - queries), {queries, 1});
}

/// Masks hold key positions in i32.
void need_i32_positions(const CompositeScope& scope, const Dim& keys, const Operand& k) {
    if (!provably_le(keys, std::numeric_limits<std::int32_t>::max()))
        scope.fail("keys may be too many for positions of 32 bits: " + typed_name("k", k));
}

Tensor causal_mask(const Graph& graph, const Dim& queries, const Dim& keys) {
    const Tensor rows = query_positions(graph, queries, keys);
    return rows >= iota(graph, keys);
}

/// True for the keys within the window of each query, or after it.
Tensor window_mask(const CompositeScope& scope, const Graph& graph, const Dim& queries, const Dim& keys,
                   std::int64_t window) {
    if (window < 1 || window > std::numeric_limits<std::int32_t>::max())
        scope.fail("window must be at least 1 and below 2^31, got " + std::to_string(window));
    const Tensor rows = query_positions(graph, queries, keys);
    return rows - iota(graph, keys) < window;
}

/// A mask reshaped to broadcast with the scores: keys [B, S] or pairs [B, H, T, S].
Tensor broadcast_to_scores(const Tensor& mask, const Sizes& n) {
    const Shape& m = mask.shape();
    if (mask.rank() == 2) return reshape(mask, n.is_grouped() ? Shape{m[0], 1, 1, 1, m[1]} : Shape{m[0], 1, 1, m[1]});
    if (!n.is_grouped()) return mask;
    const bool for_all_heads = m[1] == Dim(1);
    return reshape(mask, {m[0], for_all_heads ? Dim(1) : n.key_heads, for_all_heads ? Dim(1) : n.group, m[2], m[3]});
}

Tensor soft_capped(const CompositeScope& scope, const Tensor& scores, double cap) {
    if (!(cap > 0 && std::isfinite(cap))) {
        std::ostringstream text;
        text << "softcap must be a positive finite number, got " << cap;
        scope.fail(text.str());
    }
    return tanh(scores / cap) * cap;
}

Tensor attend(const CompositeScope& scope, const Operand& q, const Operand& k, const Operand& v, const Operand* mask,
              const AttentionOptions& options) {
    const Sizes n = check(scope, q, k, v);
    if (is_16_bit_float(q.tensor().dtype()) && !options.softmax_dtype) {
        const Tensor wide_q = widened(q), wide_k = widened(k), wide_v = widened(v);
        if (mask == nullptr) return narrowed(attend(scope, wide_q, wide_k, wide_v, nullptr, options), q);
        const Operand wide_mask = widened(*mask);
        return narrowed(attend(scope, wide_q, wide_k, wide_v, &wide_mask, options), q);
    }
    const Dim size = q.tensor().dim(3), out_size = v.tensor().dim(3);
    if (!options.scale && !(size.is_constant() && size.constant() > 0))
        scope.fail("a scale must be given unless the head size is constant: " + typed_name("q", q));
    const double scale = options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(size.constant()));

    const bool grouped = n.is_grouped();
    const Tensor queries = grouped ? reshape(q, {n.batch, n.key_heads, n.group, n.queries, size}) : q.tensor();
    const Tensor keys = grouped ? reshape(k, {n.batch, n.key_heads, 1, n.keys, size}) : k.tensor();
    const Tensor values = grouped ? reshape(v, {n.batch, n.key_heads, 1, n.keys, out_size}) : v.tensor();

    Tensor scores = matmul(queries, swap_axes(keys, -1, -2)) * scale;
    if (options.softcap) scores = soft_capped(scope, scores, *options.softcap);
    Tensor visible;
    const Graph graph(q.tensor().graph());
    if (options.causal || options.window) need_i32_positions(scope, n.keys, k);
    if (options.causal) visible = causal_mask(graph, n.queries, n.keys);
    if (options.window) {
        const Tensor is_near = window_mask(scope, graph, n.queries, n.keys, *options.window);
        visible = visible.empty() ? is_near : visible && is_near;
    }
    if (mask != nullptr) {
        const Tensor broadcast_mask = broadcast_to_scores(mask->tensor(), n);
        if (broadcast_mask.dtype() != DType::boolean)
            scores = scores + broadcast_mask;
        else
            visible = visible.empty() ? broadcast_mask : visible && broadcast_mask;
    }
    if (!visible.empty()) scores = where(visible, scores, options.masked_score.value_or(lowest(scores.dtype())));
    const DType dtype = options.softmax_dtype.value_or(scores.dtype());
    if (!is_float(dtype)) scope.fail("softmax_dtype must be a float dtype, got " + std::string(to_string(dtype)));
    const Tensor weights =
        dtype == scores.dtype() ? softmax(scores) : cast(softmax(cast(scores, dtype)), scores.dtype());
    const Tensor result = matmul(weights, values);
    return grouped ? reshape(result, {n.batch, n.heads, n.queries, out_size}) : result;
}

/// True if dtype and shape are those of a mask of the keys, or of the pairs of queries and keys.
bool fits(const Tensor& mask, const Tensor& q, const Tensor& k) {
    if (k.empty() || k.rank() != 4) return false;
    if (mask.rank() == 2) return mask.dtype() == DType::boolean && mask.dim(0) == k.dim(0) && mask.dim(1) == k.dim(2);
    if (mask.rank() != 4 || q.rank() != 4 || (mask.dtype() != DType::boolean && mask.dtype() != q.dtype()))
        return false;
    const Shape scores{q.dim(0), q.dim(1), q.dim(2), k.dim(2)};
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (!(mask.shape()[i] == scores[i]) && !(mask.shape()[i] == Dim(1))) return false;
    return true;
}

}  // namespace

Tensor attention(const Operand& q, const Operand& k, const Operand& v, const AttentionOptions& options) {
    const CompositeScope scope("attention", q);
    return attend(scope, q, k, v, nullptr, options);
}

Tensor attention(const Operand& q, const Operand& k, const Operand& v, const Operand& mask,
                 const AttentionOptions& options) {
    const CompositeScope scope("attention", q);
    if (mask.is_scalar() || mask.tensor().empty()) scope.fail("the mask must be a Tensor");
    const bool comparable = !q.tensor().empty() && !k.tensor().empty();
    if (comparable && !fits(mask.tensor(), q.tensor(), k.tensor()))
        scope.fail("the mask must be boolean [B,S], or [B,H,T,S] boolean or of the dtype of q: " + typed_name("q", q) +
                   ", " + typed_name("k", k) + ", " + typed_name("mask", mask));
    return attend(scope, q, k, v, &mask, options);
}

}  // namespace cairn::inline v0
