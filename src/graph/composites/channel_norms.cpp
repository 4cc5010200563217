#include "graph/composites/f32_compute.hpp"
#include "graph/composites/sliding_windows.hpp"
#include "graph/composites/typed_name.hpp"

// Norms of x [B, C, ...] with parameters for each channel.
namespace cairn::inline v0 {
namespace {

using namespace composites;

void check(const CompositeScope& scope, const Operand& x, int least_rank) {
    if (x.tensor().rank() < least_rank || !is_float(x.tensor().dtype()))
        scope.fail("x must be a float with " + std::to_string(least_rank) + " axes or more: " + typed_name("x", x));
}

// [C] as [C, 1, ..], so that it broadcasts with x [B, C, ...].
Tensor broadcast_to_channels(const Operand& x, const Operand& row) {
    Shape shape(x.tensor().shape().size() - 1, 1);
    shape[0] = x.tensor().dim(1);
    return reshape(row, std::move(shape));
}

// `normal` times gamma plus beta, both [C], in the dtype of x.
Tensor scaled(const CompositeScope& scope, const Operand& x, const Tensor& normal, const Operand& gamma,
              const Operand& beta) {
    const Tensor product = normal * broadcast_to_channels(x, widened_with(scope, x, "gamma", gamma));
    return narrowed(product + broadcast_to_channels(x, widened_with(scope, x, "beta", beta)), x);
}

}  // namespace

Tensor batch_norm(const Operand& x, const Operand& gamma, const Operand& beta, const Operand& mean, const Operand& var,
                  double eps) {
    const CompositeScope scope("batch_norm", x);
    check(scope, x, 2);
    need_channels(scope, x, "gamma", gamma);
    need_channels(scope, x, "beta", beta);
    need_channels(scope, x, "mean", mean);
    need_channels(scope, x, "var", var);
    const auto wide = [&](std::string_view name, const Operand& row) {
        return widened_with(scope, x, name, row).tensor();
    };
    // One factor and one term per channel, so that each element of x takes one of each.
    const Tensor spread = wide("var", var), root = sqrt(spread + eps);
    const Tensor factor = wide("gamma", gamma) / root, shift = wide("mean", mean) * factor;
    const Tensor term = wide("beta", beta) - shift;
    const Tensor product = widened(x) * broadcast_to_channels(x, factor);
    return narrowed(product + broadcast_to_channels(x, term), x);
}

Tensor group_norm(const Operand& x, int groups, const Operand& gamma, const Operand& beta, double eps) {
    const CompositeScope scope("group_norm", x);
    check(scope, x, 2);
    need_channels(scope, x, "gamma", gamma);
    need_channels(scope, x, "beta", beta);
    const Shape& shape = x.tensor().shape();
    if (groups < 1) scope.fail("groups must be at least 1, got " + std::to_string(groups));
    if (!(shape[1] / groups * groups == shape[1]))
        scope.fail("the channels are not sure to be a multiple of " + std::to_string(groups) +
                   " groups: " + typed_name("x", x));
    const Dim together = shape[1] / groups * element_count({shape.begin() + 2, shape.end()});
    const Tensor parts = reshape(widened(x), {shape[0], groups, together});
    const Tensor d = parts - mean(parts, -1, true);
    return scaled(scope, x, reshape(d / sqrt(mean(d * d, -1, true) + eps), shape), gamma, beta);
}

Tensor instance_norm(const Operand& x, const Operand& gamma, const Operand& beta, double eps) {
    const CompositeScope scope("instance_norm", x);
    check(scope, x, 3);
    need_channels(scope, x, "gamma", gamma);
    need_channels(scope, x, "beta", beta);
    std::vector<int> spatial_axes;
    for (int axis = 2; axis < x.tensor().rank(); ++axis) spatial_axes.push_back(axis);
    const Tensor wide = widened(x);
    const Tensor d = wide - mean(wide, spatial_axes, true);
    return scaled(scope, x, d / sqrt(mean(d * d, spatial_axes, true) + eps), gamma, beta);
}

}  // namespace cairn::inline v0
