#pragma once

#include "io/onnx_node/node.hpp"

#include <string_view>

/// Scores and labels of classifiers and regressors of the domain ai.onnx.ml.
namespace cairn::inline v0::onnx {

inline constexpr std::string_view ml_domain = "ai.onnx.ml";

/// Input 0 as a matrix of floats, f64 or f32: one axis is one row.
Tensor feature_rows(const Node& node);
/// Scores [N, C] after the transform that an attribute post_transform names.
Tensor transformed_scores(const Node& node, const Tensor& scores, std::string_view transform);
/// Sets an output to the classes of i64 at these positions. Refuses labels of text.
void set_labels(Node& node, std::size_t output, const Tensor& positions, std::string_view integers,
                std::string_view texts);

}  // namespace cairn::inline v0::onnx
