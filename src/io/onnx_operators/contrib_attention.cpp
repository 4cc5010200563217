#include "io/onnx_operators/attention.hpp"
#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>

/// Attention and MultiHeadAttention of com.microsoft, and RotaryEmbedding.
namespace cairn::inline v0::onnx {
namespace {

/// Heads [B,H,T,D], earlier keys and values included.
struct ContribHeads {
    Tensor q, k, v;
};

/// The sum, rounded once.
Tensor with_bias(const Tensor& x, const Tensor& bias) { return as_dtype(wide_of(x) + wide_of(bias), x.dtype()); }

/// Keys of each sample that are no padding, of their lengths [B], or of the ends and starts [2B] of them: i32
/// [B,1,1,S].
Tensor mask_of_lengths(const Tensor& lengths, const Dim& batch, const Dim& keys, bool has_starts) {
    const Tensor columns = reshape(iota(Graph(lengths.graph()), keys, lengths.dtype()), {1, 1, 1, keys});
    const Tensor ends = reshape(has_starts ? cairn::slice(lengths, 0, 0, batch) : lengths, {batch, 1, 1, 1});
    Tensor visible = columns < ends;
    if (has_starts)
        visible = visible && columns >= reshape(cairn::slice(lengths, 0, batch, batch * 2), {batch, 1, 1, 1});
    return cast(visible, DType::i32);
}

/// The input as a mask of scores [B,H,T,S]: positive for keys that are visible.
Tensor mask_of_input(const Node& node, std::size_t input, const ContribHeads& heads) {
    const Tensor mask = node.tensor(input);
    const Dim batch = heads.q.dim(0), queries = heads.q.dim(2), keys = heads.k.dim(2);
    const Shape& shape = mask.shape();
    if (shape == Shape{batch, keys}) return reshape(mask, {batch, 1, 1, keys});
    if (shape == Shape{batch, queries, keys}) return unsqueeze(mask, 1);
    if (shape == Shape{batch}) return mask_of_lengths(mask, batch, keys, false);
    if (shape == Shape{batch * 2}) return mask_of_lengths(mask, batch, keys, true);
    node.refuse(fmt::format("its mask {} is not of {} samples, {} queries and {} keys", to_string(shape),
                            to_string(batch), to_string(queries), to_string(keys)));
}

/// What is added to scores [B,H,T,S]: the mask that is input `mask`, and the bias that is input 5; empty: nothing.
Tensor added_to_scores(const Node& node, const ContribHeads& heads, std::size_t mask) {
    Tensor added;
    if (node.has(mask))
        added = added_mask(mask_of_input(node, mask, heads), node.real("mask_filter_value", -10000.0), heads.q.dtype());
    if (node.has(5)) added = added.empty() ? node.tensor(5) : with_bias(added, node.tensor(5));
    return added;
}

/// Sets output 0, and refuses a causal mask of a number of earlier keys other than `past`.
void set_attention(Node& node, const ContribHeads& heads, const Dim& past, std::size_t mask) {
    AttentionOptions options;
    options.causal = node.integer("unidirectional", 0) != 0;
    if (options.causal && !(heads.k.dim(2) - heads.q.dim(2) == past))
        node.refuse("its queries and keys differ in length, of which earlier ones are visible");
    if (const double scale = node.real("scale", 0); scale != 0) options.scale = scale;
    const Tensor added = added_to_scores(node, heads, mask);
    const Tensor y = added.empty() ? attention(heads.q, heads.k, heads.v, options)
                                   : attention(heads.q, heads.k, heads.v, added, options);
    node.set(0, joined_heads(y));
}

/// Three consecutive parts of a list.
std::array<Tensor, 3> three_parts(const Tensor& x, const Shape& sizes) {
    const std::vector<Tensor> parts = split(x, sizes, -1);
    return {parts[0], parts[1], parts[2]};
}

Tensor heads_of(const Node& node, const Tensor& packed) {
    return swap_axes(split_heads(node, packed, node.integer("num_heads")), 1, 2);
}

void make_contrib_multi_head_attention(Node& node) {
    for (const std::size_t input : {std::size_t{8}, std::size_t{9}})
        if (node.has(input)) node.refuse("it has a cache that it shares with its result");
    if (!node.has(1) || !node.has(2)) node.refuse("its queries, keys and values are packed");
    Tensor q = node.tensor(0), k = node.tensor(1), v = node.tensor(2);
    if (q.rank() != 3 || (k.rank() != 3 && k.rank() != 4) || v.rank() != k.rank())
        node.refuse(
            fmt::format("its queries, keys and values have the ranks {}, {} and {}", q.rank(), k.rank(), v.rank()));
    // Keys and values with an axis of heads are ready.
    const bool is_ready = k.rank() == 4;
    if (node.has(3)) {
        const Dim hidden = q.dim(2);
        const Dim value_hidden = is_ready ? node.tensor(3).dim(0) - hidden * 2 : v.dim(2);
        const auto [bias_q, bias_k, bias_v] = three_parts(node.tensor(3), {hidden, hidden, value_hidden});
        q = with_bias(q, bias_q);
        if (!is_ready) k = with_bias(k, bias_k), v = with_bias(v, bias_v);
    }
    ContribHeads heads{heads_of(node, q), is_ready ? k : heads_of(node, k), is_ready ? v : heads_of(node, v)};
    Dim past = 0;
    if (node.has(6) != node.has(7)) node.refuse("past_key and past_value must be given together");
    if (node.has(6)) {
        past = node.tensor(6).dim(2);
        heads.k = concat({node.tensor(6), heads.k}, 2);
        heads.v = concat({node.tensor(7), heads.v}, 2);
    }
    node.set(1, heads.k);
    node.set(2, heads.v);
    set_attention(node, heads, past, 4);
}

/// Sizes of queries, keys and values in the columns of the weights.
Shape sizes_of_projections(const Node& node, const Dim& columns) {
    const std::vector<std::int64_t> given = node.integers("qkv_hidden_sizes");
    if (given.size() == 3) return {given[0], given[1], given[2]};
    if (!given.empty()) node.refuse(fmt::format("it has {} qkv_hidden_sizes", given.size()));
    const Dim third = columns / 3;
    if (!(third * 3 == columns)) node.refuse(fmt::format("its {} columns are no three parts", to_string(columns)));
    return {third, third, third};
}

void make_contrib_attention(Node& node) {
    if (node.integer("do_rotary", 0) != 0) node.refuse("it rotates positions");
    if (node.integer("past_present_share_buffer", 0) != 0 || node.has(6))
        node.refuse("it has a cache that it shares with its result");
    const Tensor x = node.tensor(0), weights = node.tensor(1);
    const Tensor projected = node.has(2) ? linear(x, weights, node.tensor(2)) : linear(x, weights);
    const auto [q, k, v] = three_parts(projected, sizes_of_projections(node, weights.dim(-1)));
    ContribHeads heads{heads_of(node, q), heads_of(node, k), heads_of(node, v)};
    Dim past = 0;
    if (node.has(4)) {
        const Tensor states = node.tensor(4);
        past = states.dim(3);
        const auto state = [&](int i) { return squeeze(cairn::slice(states, 0, i, i + 1), 0); };
        heads.k = concat({state(0), heads.k}, 2);
        heads.v = concat({state(1), heads.v}, 2);
    }
    if (node.wants(1)) node.set(1, stack({heads.k, heads.v}, 0));
    set_attention(node, heads, past, 3);
}

/// The positions of each sample [B,T], or the first one of all [1].
void make_contrib_rotary_embedding(Node& node) {
    if (node.integer("is_packed_batching", 0) != 0) node.refuse("its batch is packed");
    if (node.real("scale", 1) != 1) node.refuse("it scales its result");
    const Tensor x = node.tensor(0);
    if (x.rank() != 3 && x.rank() != 4) node.refuse(fmt::format("its input has rank {}", x.rank()));
    const Tensor cosines = node.tensor(2), sines = node.tensor(3);
    Tensor heads = x;
    if (x.rank() == 3) {
        std::int64_t count = node.integer("num_heads", 0);
        if (count == 0) {
            const Dim size = x.dim(2) / (cosines.dim(1) * 2);
            if (!size.is_constant())
                node.refuse(fmt::format("the number of its heads is the size {}", to_string(size)));
            count = size.constant();
        }
        heads = swap_axes(split_heads(node, x, count), 1, 2);
    }
    Tensor positions = node.tensor(1);
    if (positions.rank() == 1) positions = positions + iota(node.graph(), heads.dim(2), positions.dtype());
    const Tensor y = rotated_heads(node, heads, gather(cosines, positions, 0), gather(sines, positions, 0),
                                   node.integer("interleaved", 0) != 0);
    node.set(0, x.rank() == 3 ? joined_heads(y) : y);
}

constexpr std::array<Operator, 4> contrib_attention_rows{
    {{"MultiHeadAttention", 1, make_contrib_multi_head_attention, nullptr, microsoft_domain},
     {"Attention", 1, make_contrib_attention, nullptr, microsoft_domain},
     {"GroupQueryAttention", 1, make_group_query_attention, nullptr, microsoft_domain},
     {"RotaryEmbedding", 1, make_contrib_rotary_embedding, nullptr, microsoft_domain}}};

}  // namespace

std::span<const Operator> contrib_attention_operators() { return contrib_attention_rows; }

Tensor added_mask(const Tensor& mask, double hidden, DType dtype) {
    const Tensor zero = Graph(mask.graph()).constant(dtype, 0);
    return where(mask > 0, zero, hidden);
}

Tensor rotated_heads(const Node& node, const Tensor& x, const Tensor& cosines, const Tensor& sines,
                     bool is_interleaved) {
    const Dim rotated = cosines.dim(-1) * 2, size = x.dim(3);
    if (!provably_le(rotated, size))
        node.refuse(fmt::format("it rotates {} of {} elements", to_string(rotated), to_string(size)));
    const Tensor wide = wide_of(rotated == size ? x : cairn::slice(x, 3, 0, rotated));
    const Tensor pairs =
        rotated_pairs(wide, unsqueeze(wide_of(cosines), -3), unsqueeze(wide_of(sines), -3), is_interleaved);
    const Tensor y = as_dtype(pairs, x.dtype());
    return rotated == size ? y : concat({y, cairn::slice(x, 3, rotated, size)}, 3);
}

}  // namespace cairn::inline v0::onnx
