#include "graph/composites/f32_compute.hpp"
#include "graph/composites/sliding_windows.hpp"
#include "graph/composites/typed_name.hpp"

namespace cairn::inline v0 {
namespace {

using namespace composites;

Numbers scales_of(const CompositeScope& scope, const Operand& x, const IntList& scale) {
    if (x.tensor().rank() < 3) scope.fail("x needs a spatial axis behind [B, C]: " + typed_name("x", x));
    return per_axis(scope, "scale", scale, x.tensor().shape().size() - 2, 1);
}

// Linear interpolation of one axis to `scale` times its length. Each element of x gives `scale` results, at offsets
// (i + 0.5) / scale - 0.5 from it: half of them before the element, half after it.
Tensor interpolate(const Tensor& x, int axis, std::int64_t scale) {
    const Dim size = x.dim(axis);
    const Tensor first = slice(x, axis, 0, 1), last = slice(x, axis, size - 1, size);
    const Tensor before = concat({first, slice(x, axis, 0, size - 1)}, axis);
    const Tensor behind = concat({slice(x, axis, 1, size), last}, axis);
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < scale; ++i) {
        const double offset = (static_cast<double>(i) + 0.5) / static_cast<double>(scale) - 0.5;
        const Tensor near = offset == 0 ? x : x * (offset < 0 ? 1 + offset : 1 - offset);
        if (offset < 0)
            parts.push_back(before * -offset + near);
        else
            parts.push_back(offset == 0 ? x : near + behind * offset);
    }
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = size * scale;
    return reshape(stack(std::span<const Tensor>(parts), axis + 1), std::move(shape));
}

}  // namespace

Tensor upsample_nearest(const Operand& x, const IntList& scale) {
    const CompositeScope scope("upsample_nearest", x);
    const Numbers scales = scales_of(scope, x, scale);
    Tensor result = x.tensor();
    for (std::size_t i = 0; i < scales.size(); ++i) result = repeat(result, scales[i], static_cast<int>(i) + 2);
    return result;
}

Tensor upsample_linear(const Operand& x, const IntList& scale) {
    const CompositeScope scope("upsample_linear", x);
    const Numbers scales = scales_of(scope, x, scale);
    if (!is_float(x.tensor().dtype())) scope.fail("needs a float dtype: " + typed_name("x", x));
    Tensor result = widened(x);
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const int axis = static_cast<int>(i) + 2;
        if (!provably_le(1, x.tensor().dim(axis)))
            scope.fail("axis " + std::to_string(axis) + " may be empty: " + typed_name("x", x));
        if (scales[i] > 1) result = interpolate(result, axis, scales[i]);
    }
    return narrowed(result, x);
}

}  // namespace cairn::inline v0
