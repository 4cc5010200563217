#include "io/onnx_operators/ml_scores.hpp"

#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// Softmax in which zeros stay zeros.
Tensor softmax_of_nonzero(const Tensor& scores) {
    const Tensor most = max_reduce(scores, -1, true);
    const Tensor weights = where(abs(scores) > 1e-7f, exp(scores - most), scores * exp(-most));
    const Tensor total = sum(weights, -1, true);
    return where(total == 0, 0.5, weights / total);
}

}  // namespace

Tensor feature_rows(const Node& node) {
    const Tensor x = node.tensor(0);
    if (x.rank() != 1 && x.rank() != 2) node.refuse(fmt::format("its input has rank {}", x.rank()));
    return float_of(x.rank() == 1 ? unsqueeze(x, 0) : x);
}

Tensor transformed_scores(const Node& node, const Tensor& scores, std::string_view transform) {
    if (transform == "NONE") return scores;
    if (transform == "LOGISTIC") return sigmoid(scores);
    if (transform == "SOFTMAX") return softmax(scores, -1);
    if (transform == "SOFTMAX_ZERO") return softmax_of_nonzero(scores);
    node.refuse(fmt::format("its post_transform '{}' is not supported", transform));
}

void set_labels(Node& node, std::size_t output, const Tensor& positions, std::string_view integers,
                std::string_view texts) {
    if (!node.wants(output)) return;
    if (!node.texts(texts).empty()) node.refuse("its labels are text");
    const std::vector<std::int64_t> labels = node.integers(integers);
    const auto count = static_cast<std::int64_t>(labels.size());
    node.set(output, gather(node.graph().constant(labels, {count}), positions, 0));
}

}  // namespace cairn::inline v0::onnx
