#include "io/onnx_operators/attention.hpp"
#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>
#include <utility>

/// GroupQueryAttention of com.microsoft, with caches of keys and values that its results continue.
namespace cairn::inline v0::onnx {
namespace {

/// Heads of queries, and of keys and values without the caches.
struct GroupedHeads {
    Tensor q, k, v;
};

GroupedHeads grouped_heads(Node& node) {
    const std::int64_t query_heads = node.integer("num_heads"), key_heads = node.integer("kv_num_heads");
    const auto heads = [&](const Tensor& packed, std::int64_t count) {
        return swap_axes(split_heads(node, packed, count), 1, 2);
    };
    const Tensor q = node.tensor(0);
    if (node.has(1) != node.has(2)) node.refuse("key and value must be given together");
    if (node.has(1)) return {heads(q, query_heads), heads(node.tensor(1), key_heads), heads(node.tensor(2), key_heads)};
    const std::int64_t all = query_heads + 2 * key_heads;
    const Tensor packed = heads(q, all);
    const std::vector<Tensor> parts = split(packed, {query_heads, key_heads, key_heads}, 1);
    return {parts[0], parts[1], parts[2]};
}

void refuse_unsupported(const Node& node) {
    constexpr std::array<std::pair<std::size_t, std::string_view>, 7> inputs{{{9, "position_ids"},
                                                                              {11, "head_sink"},
                                                                              {12, "k_scale"},
                                                                              {13, "v_scale"},
                                                                              {14, "q_norm_weight"},
                                                                              {15, "k_norm_weight"},
                                                                              {16, "query_seqlens"}}};
    for (const auto& [input, name] : inputs)
        if (node.has(input)) node.refuse(fmt::format("its input {} is not supported", name));
    if (node.integer("smooth_softmax", 0) > 0) node.refuse("its softmax is smooth");
    if (node.integer("sliding_window_cache", 0) != 0) node.refuse("its cache is a sliding window");
    if (node.text("k_quant_type", "NONE") != "NONE" || node.text("v_quant_type", "NONE") != "NONE")
        node.refuse("its cache is quantized");
}

/// A cache [B,G,P,D] of which each sample has as many rows as `past` [B,1] says, continued by rows [B,G,T,D]: of `size`
/// rows, zero after the new ones. `cache` may be empty.
Tensor continued(const Tensor& cache, const Tensor& added, const Tensor& past, const Dim& size) {
    const Dim cached = cache.empty() ? Dim(0) : cache.dim(2), batch = past.dim(0), count = added.dim(2);
    const Tensor all = cache.empty() ? added : concat({cache, added}, 2);
    const Tensor rows = reshape(iota(Graph(past.graph()), size, DType::i64), {1, size});
    const Tensor sources = where(rows < past, rows, rows - past + cached);
    const Tensor is_given = rows < past + count;
    const Tensor safe = where(is_given, sources, 0);
    const Shape shape{batch, added.dim(1), size, added.dim(3)};
    const auto of_rows = [&](const Tensor& x) { return reshape(x, {batch, 1, size, 1}); };
    return where(of_rows(is_given), take_along_axis(all, broadcast(of_rows(safe), shape), 2), 0);
}

}  // namespace

void make_group_query_attention(Node& node) {
    refuse_unsupported(node);
    GroupedHeads heads = grouped_heads(node);
    const Dim batch = heads.q.dim(0), queries = heads.q.dim(2);
    if (!(heads.k.dim(2) == queries)) node.refuse("its keys are not as many as its queries");
    const Shape total = node.sizes(6, "total_sequence_length");
    if (total.size() != 1) node.refuse("total_sequence_length is no single number");
    if (node.has(3) != node.has(4)) node.refuse("past_key and past_value must be given together");
    const Dim cached = node.has(3) ? node.tensor(3).dim(2) : Dim(0);

    // Keys of each sample when its queries are among them, and those before its queries: none for a first prompt.
    const Tensor lengths = reshape(as_dtype(node.tensor(5), DType::i64), {batch, 1}) + 1;
    const Tensor is_prompt = node.graph().constant(DType::i64, total[0]) == node.graph().constant(DType::i64, queries);
    const Tensor past = where(is_prompt, 0, lengths - queries);
    if (node.integer("do_rotary", 0) != 0) {
        const Tensor positions = past + reshape(iota(node.graph(), queries, DType::i64), {1, queries});
        const Tensor cosines = gather(node.tensor(7), positions, 0), sines = gather(node.tensor(8), positions, 0);
        const bool is_interleaved = node.integer("rotary_interleaved", 0) != 0;
        heads.q = rotated_heads(node, heads.q, cosines, sines, is_interleaved);
        heads.k = rotated_heads(node, heads.k, cosines, sines, is_interleaved);
    }
    const Dim size = max(total[0], cached);
    const auto cache = [&](std::size_t input) { return node.has(input) ? node.tensor(input) : Tensor(); };
    const Tensor k = continued(cache(3), heads.k, past, size), v = continued(cache(4), heads.v, past, size);
    node.set(1, k);
    node.set(2, v);

    const Tensor keys = reshape(iota(node.graph(), size, DType::i64), {1, 1, 1, size});
    const Tensor each =
        reshape(past, {batch, 1, 1, 1}) + reshape(iota(node.graph(), queries, DType::i64), {1, 1, queries, 1});
    const bool is_causal = node.integer("causal", 1) != 0;
    Tensor visible = is_causal ? keys <= each : keys < reshape(lengths, {batch, 1, 1, 1});
    if (const std::int64_t window = node.integer("local_window_size", -1); window > 0)
        visible = visible && keys > each - window;
    AttentionOptions options;
    if (const double scale = node.real("scale", 0); scale != 0) options.scale = scale;
    if (const double cap = node.real("softcap", 0); cap > 0) options.softcap = cap;
    Tensor mask = visible;
    if (node.has(10)) {  // for the keys up to the total length
        const Tensor bias = node.tensor(10);
        mask = where(visible, bias.dim(3) == size ? bias : pad(bias, 3, 0, size - bias.dim(3)),
                     -std::numeric_limits<double>::infinity());
    }
    node.set(0, joined_heads(attention(heads.q, k, v, mask, options)));
}

}  // namespace cairn::inline v0::onnx
