#pragma once

#include "io/onnx_node/node.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The operators of ONNX that can be imported, one table for each family.
namespace cairn::inline v0::onnx {

/// The operator of that name in the operator set `opset` of its domain; null: there is none.
const Operator* find_operator(std::string_view domain, std::string_view name, std::int64_t opset);
/// All rows, for the page that lists them.
std::vector<Operator> all_operators();

/// Constant, Identity, Dropout.
std::span<const Operator> constant_operators();
/// Shapes as values; Reshape, Transpose, Expand.
std::span<const Operator> shape_operators();
/// Two operands, and casts.
std::span<const Operator> arithmetic_operators();
/// Rectifiers, gates and Clip.
std::span<const Operator> gate_operators();
/// Softmax, LogSoftmax and Hardmax.
std::span<const Operator> softmax_operators();
/// Functions of one number: Exp, Floor, Atan.
std::span<const Operator> elementwise_operators();
/// Comparisons and logic.
std::span<const Operator> comparison_operators();
/// Where.
std::span<const Operator> where_operators();
/// Bits of integers.
std::span<const Operator> bit_operators();
/// ReduceSum and the others over axes.
std::span<const Operator> axis_reduction_operators();
/// ArgMax, ArgMin, CumSum and CumProd.
std::span<const Operator> scan_operators();
/// Sum, Mean, Max and Min of several tensors.
std::span<const Operator> variadic_operators();
/// Norms over the last axes.
std::span<const Operator> layer_norm_operators();
/// Norms with parameters for each channel.
std::span<const Operator> channel_norm_operators();
/// Norms without parameters.
std::span<const Operator> plain_norm_operators();
/// Losses.
std::span<const Operator> loss_operators();
/// Concat, Split, Slice, Gather, Tile, Range.
std::span<const Operator> movement_operators();
/// Pad.
std::span<const Operator> pad_operators();
/// Gathers and scatters by index; TopK, OneHot.
std::span<const Operator> index_operators();
/// Products of matrices.
std::span<const Operator> product_operators();
/// Convolutions.
std::span<const Operator> convolution_operators();
/// Pooling.
std::span<const Operator> pooling_operators();
/// Resize, Upsample, depth and space.
std::span<const Operator> resize_operators();
/// Samples at computed places.
std::span<const Operator> sampling_operators();
/// Attention and rotary embeddings.
std::span<const Operator> attention_operators();
/// RNN, GRU and LSTM.
std::span<const Operator> recurrent_operators();
/// Fourier transforms and windows.
std::span<const Operator> signal_operators();
/// Quantized tensors.
std::span<const Operator> quantization_operators();
/// If, Loop and Scan.
std::span<const Operator> control_flow_operators();
/// Sequences and optionals.
std::span<const Operator> sequence_operators();
/// Quantized tensors of com.microsoft.
std::span<const Operator> contrib_quantized_operators();
/// Weights in blocks of com.microsoft.
std::span<const Operator> contrib_block_operators();
/// Norms of com.microsoft.
std::span<const Operator> contrib_norm_operators();
/// Attention of com.microsoft.
std::span<const Operator> contrib_attention_operators();
/// Activations and products of com.microsoft.
std::span<const Operator> contrib_function_operators();
/// Features of ai.onnx.ml.
std::span<const Operator> ml_feature_operators();
/// Linear models of ai.onnx.ml.
std::span<const Operator> ml_linear_operators();
/// Trees of ai.onnx.ml.
std::span<const Operator> ml_tree_operators();

}  // namespace cairn::inline v0::onnx
