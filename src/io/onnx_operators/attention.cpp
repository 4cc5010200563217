#include "io/onnx_operators/attention.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace cairn::inline v0::onnx {
namespace {

constexpr double hidden_score = -std::numeric_limits<double>::infinity();

/// The operands and attributes of Attention, with an axis of heads, in the dtype of the computation.
struct AttentionCall {
    Tensor q, k, v;                ///< [B,H,T,D], [B,G,S,D], [B,G,S,E]
    Tensor mask;                   ///< rank 4, boolean or added to the scores; may be empty
    Tensor lengths;                ///< [B,1,1,1] i64: keys of each sample that are no padding; may be empty
    Dim past;                      ///< keys before the first query, without `lengths`
    bool is_causal = false;        ///< no query attends to later keys
    std::int64_t left = -1;        ///< earlier keys that a query attends to; negative: all
    std::int64_t right = -1;       ///< later ones
    double softcap = 0;            ///< 0: none
    std::optional<double> scale;   ///< 1/sqrt(D) if not given
    std::optional<DType> softmax;  ///< dtype of the softmax, if it is not that of the scores

    /// True if the queries are the last keys, as cairn::attention has it.
    bool is_aligned() const { return lengths.empty() && past == k.dim(2) - q.dim(2); }
    bool has_added_mask() const { return !mask.empty() && mask.dtype() != DType::boolean; }
};

/// A mask as [B,H,T,S], each axis of that size or 1. Keys that it lacks are masked.
Tensor mask_of_scores(const Node& node, Tensor mask, const Dim& keys, DType dtype) {
    if (mask.rank() < 1 || mask.rank() > 4) node.refuse(fmt::format("its mask has rank {}", mask.rank()));
    const bool is_boolean = mask.dtype() == DType::boolean;
    if (!is_boolean) mask = cast(mask, dtype);
    Shape shape = mask.shape();
    shape.insert(shape.begin(), 4 - shape.size(), Dim(1));
    mask = reshape(mask, shape);
    // Only since operator set 24 a mask may be short, and one of size 1 is.
    if (shape[3] == keys || (node.opset() < 24 && shape[3] == Dim(1))) return mask;
    if (!provably_le(shape[3], keys))
        node.refuse(fmt::format("its mask is for {} keys where there are {}", cairn::to_string(shape[3]),
                                cairn::to_string(keys)));
    return pad(mask, 3, 0, keys - shape[3], is_boolean ? 0 : hidden_score);
}

Tensor attention_operand(const Node& node, std::size_t input, std::string_view heads) {
    Tensor x = node.tensor(input);
    if (x.rank() == 4) return x;
    if (x.rank() != 3) node.refuse(fmt::format("input {} has rank {}", input, x.rank()));
    return swap_axes(split_heads(node, x, node.integer(heads)), 1, 2);
}

AttentionCall attention_call(Node& node) {
    AttentionCall call;
    call.q = attention_operand(node, 0, "q_num_heads");
    call.k = attention_operand(node, 1, "kv_num_heads");
    call.v = attention_operand(node, 2, "kv_num_heads");
    if (node.has(4) != node.has(5)) node.refuse("past_key and past_value must be given together");
    if (node.has(4)) {
        if (node.has(6)) node.refuse("past_key and nonpad_kv_seqlen must not be given together");
        call.past = node.tensor(4).dim(2);
        call.k = concat({node.tensor(4), call.k}, 2);
        call.v = concat({node.tensor(5), call.v}, 2);
    }
    if (node.wants(1)) node.set(1, call.k);
    if (node.wants(2)) node.set(2, call.v);

    const DType dtype = attention_dtype({call.q.dtype(), call.k.dtype(), call.v.dtype()});
    for (Tensor* operand : {&call.q, &call.k, &call.v})
        if (operand->dtype() != dtype) *operand = cast(*operand, dtype);
    if (node.has(3)) call.mask = mask_of_scores(node, node.tensor(3), call.k.dim(2), dtype);
    if (node.has(6)) call.lengths = reshape(cast(node.tensor(6), DType::i64), {call.q.dim(0), 1, 1, 1});

    call.is_causal = node.integer("is_causal", 0) != 0;
    call.left = node.integer("left_window_size", -1);
    call.right = node.integer("right_window_size", -1);
    call.softcap = node.real("softcap", 0);
    if (call.softcap < 0) call.softcap = 0;
    if (node.has_attribute("scale")) call.scale = node.real("scale");
    if (call.scale && *call.scale < 0) node.refuse("its scale is negative");
    call.softmax = softmax_precision(node);
    if (call.softmax == dtype || call.softmax == node.dtype(0)) call.softmax.reset();
    // The scores of f16 are f32 here.
    if (call.scale || (call.q.dim(3).is_constant() && call.q.dim(3).constant() > 0)) return call;
    call.q = call.q * rsqrt(node.graph().constant(dtype, call.q.dim(3)));
    call.scale = 1;
    return call;
}

/// The keys that each query attends to, but for the mask: boolean, of axes [B,H,T,S] of that size or 1; empty: all.
/// `is_partial`: without what the options of cairn::attention say.
Tensor visible_keys(const AttentionCall& call, bool is_partial) {
    const Graph graph(call.q.graph());
    const Dim queries = call.q.dim(2), keys = call.k.dim(2);
    Tensor rows = reshape(iota(graph, queries, DType::i64, call.past), {1, 1, queries, 1});
    if (!call.lengths.empty()) rows = rows + (call.lengths - queries);
    const Tensor columns = reshape(iota(graph, keys, DType::i64), {1, 1, 1, keys});
    Tensor visible;
    const auto need = [&](const Tensor& condition) { visible = visible.empty() ? condition : visible && condition; };
    const bool by_options = is_partial && call.is_aligned();
    if (call.is_causal && !by_options) need(columns <= rows);
    if (call.left >= 0 && !by_options) need(rows - columns <= call.left);
    if (call.right >= 0) need(columns - rows <= call.right);
    if (!call.lengths.empty()) need(columns < call.lengths);
    return visible;
}

/// `visible` and the mask in one.
Tensor combined_mask(const AttentionCall& call, const Tensor& visible) {
    if (visible.empty() || call.mask.empty()) return visible.empty() ? call.mask : visible;
    return call.has_added_mask() ? where(visible, call.mask, hidden_score) : visible && call.mask;
}

/// True for the queries that attend to a key, with a last axis of 1; empty: all do.
Tensor attending_queries(const AttentionCall& call) {
    const bool is_plain = call.mask.empty() && call.lengths.empty() && call.right < 0;
    if (is_plain && (call.is_aligned() || call.left < 0)) return {};  // the key 0, or the one of the query
    const Tensor mask = combined_mask(call, visible_keys(call, false));
    if (mask.dtype() == DType::boolean) return any(mask, -1, true);
    return max_reduce(mask, -1, true) != hidden_score;
}

Tensor zero_unless(const Tensor& condition, const Tensor& x) { return condition.empty() ? x : where(condition, x, 0); }

Tensor fused_attention(const AttentionCall& call) {
    AttentionOptions options;
    options.scale = call.scale;
    options.softmax_dtype = call.softmax;
    if (call.softcap > 0) options.softcap = call.softcap;
    if (call.is_aligned()) {
        options.causal = call.is_causal;
        constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
        if (call.left >= 0 && call.left < longest) options.window = call.left + 1;
        // Added to a mask that is very low itself, only -inf is lower.
        if (call.has_added_mask()) options.masked_score = hidden_score;
    }
    const Tensor mask = combined_mask(call, visible_keys(call, true));
    return mask.empty() ? attention(call.q, call.k, call.v, options) : attention(call.q, call.k, call.v, mask, options);
}

/// The same step by step; the output 3 is the result of one of the steps.
Tensor stepwise_attention(Node& node, const AttentionCall& call) {
    const DType dtype = call.q.dtype();
    const std::int64_t mode = node.integer("qk_matmul_output_mode", 0);
    const auto step = [&](std::int64_t number, const Tensor& x) {
        if (mode == number) node.set(3, cast(x, node.dtype(0)));
    };
    const Dim size = call.q.dim(3);
    const double scale = call.scale ? *call.scale : 1 / std::sqrt(static_cast<double>(size.constant()));
    Tensor scores = head_products(node, call.q, call.k) * scale;
    step(0, scores);
    if (call.softcap > 0) scores = tanh(scores / call.softcap) * call.softcap;
    step(1, scores);
    const Tensor mask = combined_mask(call, visible_keys(call, false));
    if (!mask.empty())
        scores = scores +
                 (mask.dtype() == DType::boolean ? where(mask, node.graph().constant(dtype, 0), hidden_score) : mask);
    step(2, scores);
    Tensor weights = call.softmax ? cast(softmax(cast(scores, *call.softmax)), dtype) : softmax(scores);
    weights = zero_unless(attending_queries(call), weights);
    step(3, weights);
    return head_sums(node, weights, call.v);
}

}  // namespace

void make_attention(Node& node) {
    if (const std::int64_t mode = node.integer("qk_matmul_output_mode", 0); mode < 0 || mode > 3)
        node.refuse(fmt::format("its qk_matmul_output_mode is {}", mode));
    const AttentionCall call = attention_call(node);
    Tensor y =
        node.wants(3) ? stepwise_attention(node, call) : zero_unless(attending_queries(call), fused_attention(call));
    if (node.rank(0) == 3) y = joined_heads(y);
    node.set(0, cast(y, node.dtype(0)));
}

}  // namespace cairn::inline v0::onnx
