#pragma once

#include "io/onnx_node/node.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Parts of the operators that onnxruntime defines.
namespace cairn::inline v0::onnx {

inline constexpr std::string_view microsoft_domain = "com.microsoft";

/// Output 0 of the operator `op` of ai.onnx, in its operator set `opset`, with the attributes of the node.
Tensor result_of_operator(Node& node, std::string_view op, std::int64_t opset, std::vector<ValuePtr> inputs);

void make_group_query_attention(Node& node);
/// The visible keys of attention as a sum: 0, and `hidden` where `mask`, of integers, is not positive.
Tensor added_mask(const Tensor& mask, double hidden, DType dtype);
/// x [B,H,T,D], the first elements of whose rows are rotated by the angles of cosines and sines [B,T,R/2] or [T,R/2].
Tensor rotated_heads(const Node& node, const Tensor& x, const Tensor& cosines, const Tensor& sines,
                     bool is_interleaved);

}  // namespace cairn::inline v0::onnx
