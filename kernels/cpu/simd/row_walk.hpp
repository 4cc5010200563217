#pragma once

#include "kernels/cpu/simd/axis_plan.hpp"
#include "kernels/cpu/simd/half.hpp"

/// Rows of contiguous elements of tensors: finding them, sharing them out, folding over one.
namespace CAIRN_LEVEL {

inline constexpr int max_row_axes = 8;

/// Where row r of a tensor begins: its leading axes, those merged that one stride walks.
struct Rows {
    int axes = 0;
    std::int64_t shape[max_row_axes], strides[max_row_axes];
    std::int64_t count = 1;

    Rows() = default;
    /// The first `leading` axes of `arg`.
    Rows(const TensorArg& arg, int leading) {
        for (int axis = 0; axis < leading; ++axis) add(arg.shape[axis], arg.strides[axis]);
    }
    /// One more axis, within those before.
    void add(std::int64_t size, std::int64_t stride) {
        count *= size;
        if (size == 1) return;
        const bool merge = axes > 0 && strides[axes - 1] == stride * size;
        if (!merge) ++axes;
        shape[axes - 1] = merge ? shape[axes - 1] * size : size;
        strides[axes - 1] = stride;
    }
    std::int64_t offset(std::int64_t row) const {
        if (axes == 1) return row * strides[0];
        std::int64_t offset = 0;
        for (int axis = axes - 1; axis >= 0; --axis) {
            offset += row % shape[axis] * strides[axis];
            row /= shape[axis];
        }
        return offset;
    }
};

inline const AxisPlan& plan_of(const Args& args) { return *static_cast<const AxisPlan*>(args.prepared); }
/// The elements along the plan's axes.
inline std::int64_t length_of(const TensorArg& arg, const AxisPlan& plan) {
    std::int64_t length = 1;
    for (int axis = plan.first; axis <= plan.last; ++axis) length *= arg.shape[axis];
    return length;
}

/// Calls f(row) for this member's share of `count` rows of `width` elements; about 32 KB of input a chunk.
template <typename F>
CAIRN_INLINE void share_rows(Team& team, std::int64_t count, std::int64_t width, F f) {
    const std::int64_t rows = width < 4096 ? 8192 / (width > 0 ? width : 1) : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * rows < count; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * rows < count ? (chunk + 1) * rows : count;
        for (std::int64_t row = chunk * rows; row < end; ++row) f(row);
    }
}

/// A tensor's elements: float, F16 or BF16.
template <typename Element>
CAIRN_INLINE Element* elements(const TensorArg& arg) {
    return reinterpret_cast<Element*>(arg.data);
}

/// out[i] = f(i, x) with x the elements from i on; a vector at a time, the last one in part.
template <typename Element, typename F>
CAIRN_INLINE void map_row(Element* out, std::int64_t n, F f) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, f([i](const auto* p) { return load(p + i); }));
    if (i < n) {
        const std::int64_t left = n - i;
        store_part(out + i, f([i, left](const auto* p) { return load_part(p + i, left); }), left);
    }
}

/// The sum of vector(i, count) over the row, i the first element of each vector and count < lanes for the last one in
/// part. Four sums run side by side, which hides the latency of an addition, and are folded every 32 vectors, which
/// keeps small terms from drowning in a large sum.
template <typename F>
CAIRN_INLINE float sum_vectors(std::int64_t n, F vector) {
    F32 total{};
    std::int64_t i = 0;
    while (i + lanes <= n) {
        const std::int64_t end = n - i < 32 * lanes ? n : i + 32 * lanes;
        F32 s0{}, s1{}, s2{}, s3{};
        for (; i + 4 * lanes <= end; i += 4 * lanes) {
            s0 += vector(i, lanes);
            s1 += vector(i + lanes, lanes);
            s2 += vector(i + 2 * lanes, lanes);
            s3 += vector(i + 3 * lanes, lanes);
        }
        for (; i + lanes <= end; i += lanes) s0 += vector(i, lanes);
        total += (s0 + s1) + (s2 + s3);
    }
    if (i < n) total += first_lanes(n - i) != 0 ? vector(i, n - i) : F32{};
    return join_lanes<float>(total, [](F32 a, F32 b) { return a + b; });
}
template <typename Element>
CAIRN_INLINE F32 load_some(const Element* p, std::int64_t count) {
    return count == lanes ? load(p) : load_part(p, count);
}
template <typename Element>
CAIRN_INLINE void store_some(Element* p, F32 x, std::int64_t count) {
    if (count == lanes) {
        store(p, x);
    } else {
        store_part(p, x, count);
    }
}

/// The sum of f(x[i]).
template <typename Element, typename F>
CAIRN_INLINE float sum_row(const Element* x, std::int64_t n, F f) {
    return sum_vectors(
        n, [&](std::int64_t i, std::int64_t count)
               __attribute__((always_inline)) { return f(load_some(x + i, count)); });
}
/// out[i] = f(x[i]), and their sum.
template <typename Element, typename F>
CAIRN_INLINE float map_sum_row(float* out, const Element* x, std::int64_t n, F f) {
    return sum_vectors(
        n, [&](std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
            const F32 y = f(load_some(x + i, count));
            store_some(out + i, y, count);
            return y;
        });
}

/// The largest element, NaN aside; -inf for an empty row.
template <typename Element>
CAIRN_INLINE float max_row(const Element* x, std::int64_t n) {
    const F32 least = splat(-std::numeric_limits<float>::infinity());
    F32 m0 = least, m1 = least;
    std::int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        m0 = quick_max(load(x + i), m0);
        m1 = quick_max(load(x + i + lanes), m1);
    }
    for (; i + lanes <= n; i += lanes) m0 = quick_max(load(x + i), m0);
    if (i < n) m1 = quick_max(first_lanes(n - i) != 0 ? load_part(x + i, n - i) : least, m1);
    return join_lanes<float>(quick_max(m0, m1), [](F32 a, F32 b) { return quick_max(a, b); });
}

}  // namespace CAIRN_LEVEL
