#pragma once

#include "cairn/args.hpp"

#include <algorithm>
#include <cstdint>

/// Offsets and sizes over a range of a tensor's axes: `axes` of them, from axis `first` on.
namespace cairn::kernels::cpu {

/// Offset of element `index` in row-major order.
inline std::int64_t offset_of(const TensorArg& arg, int first, int axes, std::int64_t index) noexcept {
    std::int64_t offset = 0;
    for (int axis = first + axes - 1; axis >= first; --axis) {
        offset += index % arg.shape[axis] * arg.strides[axis];
        index /= arg.shape[axis];
    }
    return offset;
}
inline std::int64_t count_of(const TensorArg& arg, int first, int axes) noexcept {
    std::int64_t count = 1;
    for (int axis = first; axis < first + axes; ++axis) count *= arg.shape[axis];
    return count;
}
/// Number of trailing axes of the range that can be merged into one with a single stride.
inline int merged_axes(const TensorArg& arg, int first, int axes) noexcept {
    int merged = std::min(axes, 1);
    for (int axis = first + axes - 1; axis > first; --axis) {
        if (arg.strides[axis - 1] != arg.strides[axis] * arg.shape[axis]) break;
        ++merged;
    }
    return merged;
}

}  // namespace cairn::kernels::cpu
