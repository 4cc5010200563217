#include "io/onnx_operators/slice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::onnx {
namespace {

/// A bound counted from the front, which may still lie outside the axis.
Dim counted_from_front(const Node& node, const Dim& size, const Dim& bound) {
    if (provably_le(0, bound)) return bound;
    if (provably_le(bound, -1)) return size + bound;
    node.refuse(fmt::format("whether its bound {} counts from the end is not known", to_string(bound)));
}

Dim least(const Dim& a, const Dim& b) { return provably_le(a, b) ? a : provably_le(b, a) ? b : min(a, b); }
Dim greatest(const Dim& a, const Dim& b) { return provably_le(a, b) ? b : provably_le(b, a) ? a : max(a, b); }
Dim clamped(const Dim& value, const Dim& low, const Dim& high) { return least(greatest(value, low), high); }

/// Bounds beyond all sizes mean the end; they would overflow sums.
Dim without_extremes(const Dim& bound) {
    constexpr std::int64_t far = std::int64_t{1} << 48;
    if (!bound.is_constant()) return bound;
    return std::clamp<std::int64_t>(bound.constant(), -far, far);
}

}  // namespace

AxisRange axis_range(const Node& node, const Dim& size, const Dim& start, const Dim& end, std::int64_t step) {
    if (step == 0) node.refuse("a step is 0");
    const Dim from = counted_from_front(node, size, without_extremes(start));
    const Dim to = counted_from_front(node, size, without_extremes(end));
    if (step > 0) {
        const Dim first = clamped(from, 0, size), last = clamped(to, 0, size);
        return {first, ceildiv(greatest(last - first, 0), step), step};
    }
    const Dim first = clamped(from, -1, size - 1), last = clamped(to, -1, size - 1);
    return {greatest(first, 0), ceildiv(greatest(first - last, 0), -step), step};
}

Tensor sliced(const Tensor& x, int axis, const AxisRange& range) {
    const Dim size = x.dim(axis);
    if (range.start == Dim(0) && range.length == size && range.step == 1) return x;
    if (range.step > 0)
        return slice(x, axis, range.start, range.start + range.step * (range.length - 1) + 1, range.step);
    Graph graph(x.graph());
    const Tensor position = iota(graph, range.length, DType::i64) * range.step + range.start;
    return gather(x, position, axis);
}

}  // namespace cairn::inline v0::onnx
