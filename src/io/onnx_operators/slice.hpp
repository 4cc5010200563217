#pragma once

#include "io/onnx_node/node.hpp"

namespace cairn::inline v0::onnx {

/// The range start, start + step, ... of an axis, as ONNX clamps it: `length` elements from `start` on.
struct AxisRange {
    Dim start, length;
    std::int64_t step = 1;
};

/// The range of Slice for an axis of `size` elements. Bounds below zero count from the end; a symbolic bound must be
/// known to lie on one side of zero.
AxisRange axis_range(const Node& node, const Dim& size, const Dim& start, const Dim& end, std::int64_t step);
/// These elements of an axis.
Tensor sliced(const Tensor& x, int axis, const AxisRange& range);

}  // namespace cairn::inline v0::onnx
