#include "cairn/composites.hpp"

namespace cairn::inline v0 {
namespace {

void need_float(const CompositeScope& scope, const Operand& x) {
    if (!is_float(x.tensor().dtype()))
        scope.fail("needs a float dtype: x " + to_string(x.tensor().dtype(), x.tensor().shape()));
}

// gamma and beta must be [D] and nothing wider, else the result would broadcast into another shape.
void need_row(const CompositeScope& scope, const Operand& x, const Operand& row, const char* name) {
    if (row.is_scalar()) scope.fail(std::string(name) + " must be a Tensor, got a number");
    if (row.tensor().empty()) scope.fail(std::string(name) + " is an empty or moved-from Tensor");
    const Tensor &tensor = x.tensor(), &other = row.tensor();
    if (tensor.rank() >= 1 && other.rank() == 1 && other.dim(0) == tensor.dim(-1)) return;
    scope.fail(std::string(name) + " must have the last axis of x as its only one: x " +
               to_string(tensor.dtype(), tensor.shape()) + ", " + name + " " + to_string(other.dtype(), other.shape()));
}

}  // namespace

Tensor softmax(const Operand& x, int axis) {
    const CompositeScope scope("softmax", x);
    const Tensor e = exp(x - max_reduce(x, {axis}, true));
    return e / sum(e, {axis}, true);
}

Tensor log_softmax(const Operand& x, int axis) {
    const CompositeScope scope("log_softmax", x);
    const Tensor shifted = x - max_reduce(x, {axis}, true);
    return shifted - log(sum(exp(shifted), {axis}, true));
}

Tensor mean(const Operand& x, const IntList& axes, bool keepdims) {
    const CompositeScope scope("mean", x);
    need_float(scope, x);
    const Tensor total = sum(x, axes, keepdims);
    Dim count = 1;
    for (const int axis : axes.values()) count *= x.tensor().dim(axis);
    if (axes.values().empty()) count = element_count(x.tensor().shape());
    return total / count;
}

Tensor variance(const Operand& x, const IntList& axes, bool keepdims) {
    const CompositeScope scope("variance", x);
    const Tensor d = x - mean(x, axes, true);
    return mean(d * d, axes, keepdims);
}

Tensor layer_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps) {
    const CompositeScope scope("layer_norm", x);
    need_row(scope, x, gamma, "gamma");
    need_row(scope, x, beta, "beta");
    const Tensor d = x - mean(x, {-1}, true);
    return d / sqrt(mean(d * d, {-1}, true) + eps) * gamma + beta;
}

Tensor rms_norm(const Operand& x, const Operand& gamma, double eps) {
    const CompositeScope scope("rms_norm", x);
    need_row(scope, x, gamma, "gamma");
    return x / sqrt(mean(x * x, {-1}, true) + eps) * gamma;
}

}  // namespace cairn::inline v0
