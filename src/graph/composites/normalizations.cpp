#include "cairn/composites.hpp"
#include "graph/composites/f32_compute.hpp"

namespace cairn::inline v0 {
namespace {

using namespace composites;

void need_float(const CompositeScope& scope, const Operand& x) {
    if (!is_float(x.tensor().dtype()))
        scope.fail("needs a float dtype: x " + to_string(x.tensor().dtype(), x.tensor().shape()));
}

// gamma or beta, reshaped to broadcast with x and cast to f32 if x is. It must be [D] and nothing wider, else the
// result would broadcast to another shape.
Tensor broadcast_along(const CompositeScope& scope, int axis, const Operand& x, const Operand& row, const char* name) {
    if (row.is_scalar()) scope.fail(std::string(name) + " must be a Tensor, got a number");
    if (row.tensor().empty()) scope.fail(std::string(name) + " is an empty or moved-from Tensor");
    const Tensor &tensor = x.tensor(), &other = row.tensor();
    const int behind = axis < 0 ? -axis - 1 : tensor.rank() - 1 - axis;
    if (tensor.rank() < 1 || other.rank() != 1 || !(other.dim(0) == tensor.dim(axis)))
        scope.fail(std::string(name) + " must have " +
                   (axis == -1 ? std::string("the last axis") : "axis " + std::to_string(axis)) +
                   " of x as its only one: x " + to_string(tensor.dtype(), tensor.shape()) + ", " + name + " " +
                   to_string(other.dtype(), other.shape()));
    const Tensor wide = widened_with(scope, x, name, row).tensor();
    if (behind == 0) return wide;
    Shape shape(static_cast<std::size_t>(behind) + 1, Dim(1));
    shape[0] = other.dim(0);
    return reshape(wide, shape);
}

Tensor layer_normal(const Tensor& x, double eps, int axis) {
    const Tensor d = x - mean(x, {axis}, true);
    return d / sqrt(mean(d * d, {axis}, true) + eps);
}

Tensor rms_normal(const Tensor& x, double eps, int axis) { return x / sqrt(mean(x * x, {axis}, true) + eps); }

}  // namespace

Tensor softmax(const Operand& x, int axis) {
    const CompositeScope scope("softmax", x);
    const Tensor wide = widened(x);
    const Tensor e = exp(wide - max_reduce(wide, {axis}, true));
    return narrowed(e / sum(e, {axis}, true), x);
}

Tensor log_softmax(const Operand& x, int axis) {
    const CompositeScope scope("log_softmax", x);
    const Tensor wide = widened(x);
    const Tensor shifted = wide - max_reduce(wide, {axis}, true);
    return narrowed(shifted - log(sum(exp(shifted), {axis}, true)), x);
}

Tensor mean(const Operand& x, const IntList& axes, bool keepdims) {
    const CompositeScope scope("mean", x);
    need_float(scope, x);
    const Tensor total = sum(widened(x), axes, keepdims);
    Dim count = 1;
    for (const int axis : axes.values()) count *= x.tensor().dim(axis);
    if (axes.values().empty()) count = element_count(x.tensor().shape());
    return narrowed(total / count, x);
}

Tensor variance(const Operand& x, const IntList& axes, bool keepdims) {
    const CompositeScope scope("variance", x);
    const Tensor wide = widened(x);
    const Tensor d = wide - mean(wide, axes, true);
    return narrowed(mean(d * d, axes, keepdims), x);
}

Tensor layer_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps, int axis) {
    const CompositeScope scope("layer_norm", x);
    const Tensor scale = broadcast_along(scope, axis, x, gamma, "gamma"),
                 shift = broadcast_along(scope, axis, x, beta, "beta");
    return narrowed(layer_normal(widened(x), eps, axis) * scale + shift, x);
}

Tensor layer_norm(const Operand& x, const Operand& gamma, double eps, int axis) {
    const CompositeScope scope("layer_norm", x);
    const Tensor scale = broadcast_along(scope, axis, x, gamma, "gamma");
    return narrowed(layer_normal(widened(x), eps, axis) * scale, x);
}

Tensor layer_norm(const Operand& x, double eps, int axis) {
    const CompositeScope scope("layer_norm", x);
    return narrowed(layer_normal(widened(x), eps, axis), x);
}

Tensor rms_norm(const Operand& x, const Operand& gamma, double eps, int axis) {
    const CompositeScope scope("rms_norm", x);
    const Tensor scale = broadcast_along(scope, axis, x, gamma, "gamma");
    return narrowed(rms_normal(widened(x), eps, axis) * scale, x);
}

Tensor rms_norm(const Operand& x, double eps, int axis) {
    const CompositeScope scope("rms_norm", x);
    return narrowed(rms_normal(widened(x), eps, axis), x);
}

}  // namespace cairn::inline v0
