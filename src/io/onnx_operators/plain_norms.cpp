#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>

namespace cairn::inline v0::onnx {
namespace {

/// x divided by its norm along an axis; 0 where the norm is 0.
void make_lp_norm(Node& node) {
    const std::int64_t p = node.integer("p", 2);
    if (p != 1 && p != 2) node.refuse(fmt::format("its norm is of order {}, neither 1 nor 2", p));
    const Tensor x = wide_of(node.tensor(0));
    const int axis = node.axis(node.integer("axis", -1), x.rank());
    const Tensor norm = p == 1 ? sum(abs(x), axis, true) : sqrt(sum(x * x, axis, true));
    const Tensor is_zero = norm == 0;
    node.set(0, as_dtype(where(is_zero, 0, x / norm), node.dtype(0)));
}

/// The number that the definition of MeanVarianceNormalization adds to the deviation.
constexpr double least_deviation = 1e-9;

void make_mean_variance_norm(Node& node) {
    const Tensor x = wide_of(node.tensor(0));
    const std::vector<std::int64_t> named =
        node.has_attribute("axes") ? node.integers("axes") : std::vector<std::int64_t>{0, 2, 3};
    const std::vector<int> axes = node.axes(named, x.rank());
    const Tensor difference = x - mean(x, axes, true);
    const Tensor deviation = sqrt(mean(difference * difference, axes, true));
    node.set(0, as_dtype(difference / (deviation + least_deviation), node.dtype(0)));
}

/// x / (bias + alpha / size * squares)^beta, with the sum of the squares of `size` channels around each.
void make_lrn(Node& node) {
    const std::int64_t size = node.integer("size");
    const Tensor x = wide_of(node.tensor(0));
    if (size < 1) node.refuse(fmt::format("its size is {}", size));
    if (x.rank() < 2) node.refuse("its input has no axis of channels");
    const double alpha = node.real("alpha", 1e-4f), beta = node.real("beta", 0.75), bias = node.real("bias", 1.0);
    const std::int64_t before = (size - 1) / 2;
    const Tensor padded = pad(x * x, 1, before, size - 1 - before);
    const Tensor squares = sum(window(padded, 1, size), -1);
    const Tensor spread = pow(squares * (alpha / static_cast<double>(size)) + bias, beta);
    node.set(0, as_dtype(x / spread, node.dtype(0)));
}

constexpr std::array<Operator, 3> plain_norm_rows{{{"LpNormalization", 1, make_lp_norm},
                                                   {"MeanVarianceNormalization", 9, make_mean_variance_norm},
                                                   {"LRN", 1, make_lrn}}};

}  // namespace

std::span<const Operator> plain_norm_operators() { return plain_norm_rows; }

}  // namespace cairn::inline v0::onnx
