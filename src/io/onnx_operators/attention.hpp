#pragma once

#include "io/onnx_node/node.hpp"

namespace cairn::inline v0::onnx {

void make_attention(Node& node);
void make_flex_attention(Node& node);
void make_linear_attention(Node& node);
void make_rotary_embedding(Node& node);
void make_tensor_scatter(Node& node);

/// q k^T for each head: q [B,H,T,D], k [B,G,S,D] with H a multiple of G, result [B,H,T,S].
Tensor head_products(const Node& node, const Tensor& q, const Tensor& k);
/// The sum of values with these weights: weights [B,H,T,S], v [B,G,S,E], result [B,H,T,E].
Tensor head_sums(const Node& node, const Tensor& weights, const Tensor& v);
/// The dtype that results of these are computed in: f64 if one of them is, otherwise f32.
DType attention_dtype(std::initializer_list<DType> dtypes) noexcept;
/// [B,T,H*D] as [B,T,H,D]. Refuses a size that is no multiple of `heads`.
Tensor split_heads(const Node& node, const Tensor& packed, std::int64_t heads);
/// [B,H,T,D] as [B,T,H*D].
Tensor joined_heads(const Tensor& x);
/// Pairs of elements of the last axis, rotated by angles of these cosines and sines [..,D/2]. A pair is x[i] and
/// x[i + D/2], or with `is_interleaved` x[2i] and x[2i + 1].
Tensor rotated_pairs(const Tensor& x, const Tensor& cosines, const Tensor& sines, bool is_interleaved);
/// The dtype of the attribute softmax_precision; empty if it is not given.
std::optional<DType> softmax_precision(const Node& node);

}  // namespace cairn::inline v0::onnx
