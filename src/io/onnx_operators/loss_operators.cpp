#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>

namespace cairn::inline v0::onnx {
namespace {

/// Sets output 0 to the loss of log-probabilities [N, C, ..] at the classes of input 1, [N, ..].
void set_loss(Node& node, const Tensor& logarithms) {
    const std::string reduction = node.text("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
        node.refuse(fmt::format("there is no reduction '{}'", reduction));
    Tensor classes = node.tensor(1), is_ignored;
    if (node.has_attribute("ignore_index")) {
        is_ignored = classes == node.integer("ignore_index");
        classes = where(is_ignored, 0, classes);
    }
    Tensor loss = -squeeze(take_along_axis(logarithms, unsqueeze(classes, 1), 1), 1);
    // Of each sample, 0 for ignored ones; empty if all are 1.
    Tensor weight;
    if (node.has(2)) weight = gather(as_dtype(node.tensor(2), loss.dtype()), classes);
    if (!weight.empty()) loss = loss * weight;
    if (!is_ignored.empty()) {
        loss = where(is_ignored, 0, loss);
        weight = weight.empty() ? cast(!is_ignored, loss.dtype()) : where(is_ignored, 0, weight);
    }
    if (reduction == "sum") loss = sum(loss);
    if (reduction == "mean" && weight.empty()) loss = mean(loss);
    if (reduction == "mean" && !weight.empty()) {
        const Tensor total = sum(loss);
        loss = total / sum(weight);
    }
    node.set(0, as_dtype(loss, node.dtype(0)));
}

Tensor class_scores(const Node& node) {
    const Tensor scores = wide_of(node.tensor(0));
    if (scores.rank() < 2) node.refuse("its input has no axis of classes");
    return scores;
}

void make_likelihood_loss(Node& node) { set_loss(node, class_scores(node)); }

void make_cross_entropy_loss(Node& node) {
    const Tensor logarithms = log_softmax(class_scores(node), 1);
    set_loss(node, logarithms);
    if (node.wants(1)) node.set(1, as_dtype(logarithms, node.dtype(0)));
}

constexpr std::array<Operator, 2> loss_rows{{{"NegativeLogLikelihoodLoss", 12, make_likelihood_loss},
                                             {"SoftmaxCrossEntropyLoss", 12, make_cross_entropy_loss}}};

}  // namespace

std::span<const Operator> loss_operators() { return loss_rows; }

}  // namespace cairn::inline v0::onnx
