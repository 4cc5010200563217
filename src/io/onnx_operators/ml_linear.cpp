#include "io/onnx_operators/ml_scores.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/stored_array.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

/// LinearRegressor and LinearClassifier.
namespace cairn::inline v0::onnx {
namespace {

/// x [N, F] times the coefficients of each of `outputs`, which are contiguous, plus intercepts: [N, outputs].
Tensor linear_scores(Node& node, const Tensor& x, std::int64_t outputs) {
    const std::vector<double> coefficients = node.reals("coefficients"), intercepts = node.reals("intercepts");
    const auto count = static_cast<std::int64_t>(coefficients.size());
    if (outputs < 1 || count % outputs != 0)
        node.refuse(fmt::format("its {} coefficients are not those of {} scores", count, outputs));
    const Tensor weights = stored_floats(node, "coefficients", {outputs, count / outputs}, coefficients, DType::f32);
    const Tensor transposed = transpose(as_dtype(weights, x.dtype()), {1, 0});
    if (intercepts.empty()) return linear(x, transposed);
    if (static_cast<std::int64_t>(intercepts.size()) != outputs)
        node.refuse(fmt::format("it has {} intercepts for {} scores", intercepts.size(), outputs));
    return linear(x, transposed, node.graph().constant(x.dtype(), {outputs}, intercepts));
}

void make_linear_regressor(Node& node) {
    const std::int64_t targets = node.integer("targets", 1);
    const std::string transform = node.text("post_transform", "NONE");
    if (targets == 1 && transform != "NONE") node.refuse("it transforms a single score, which is not specified");
    const Tensor scores = linear_scores(node, feature_rows(node), targets);
    node.set(0, as_dtype(transformed_scores(node, scores, transform), DType::f32));
}

void make_linear_classifier(Node& node) {
    const auto labels = static_cast<std::int64_t>(
        std::max(node.integers("classlabels_ints").size(), node.texts("classlabels_strings").size()));
    const std::string transform = node.text("post_transform", "NONE");
    const Tensor x = feature_rows(node);
    const auto coefficients = static_cast<std::int64_t>(node.reals("coefficients").size());
    const Dim features = x.dim(1);
    if (!features.is_constant() || features.constant() < 1)
        node.refuse(fmt::format("the number of its scores depends on the size {}", to_string(features)));
    const std::int64_t count = coefficients / features.constant();
    Tensor scores = linear_scores(node, x, count), positions;
    if (count == 1 && labels == 2) {
        // Implementations agree only on the logistic function of a single score.
        if (transform != "LOGISTIC") node.refuse("it makes two scores of one, which is not specified");
        positions = cast(reshape(scores, {x.dim(0)}) > 0, DType::i32);
        scores = concat({-scores, scores}, 1);
    } else if (count == labels && count > 1) {
        positions = argmax(scores, 1);
    } else {
        node.refuse(fmt::format("it has {} scores for {} labels", count, labels));
    }
    set_labels(node, 0, positions, "classlabels_ints", "classlabels_strings");
    node.set(1, as_dtype(transformed_scores(node, scores, transform), DType::f32));
}

constexpr std::array<Operator, 2> ml_linear_rows{{{"LinearRegressor", 1, make_linear_regressor, nullptr, ml_domain},
                                                  {"LinearClassifier", 1, make_linear_classifier, nullptr, ml_domain}}};

}  // namespace

std::span<const Operator> ml_linear_operators() { return ml_linear_rows; }

}  // namespace cairn::inline v0::onnx
