#pragma once

#include "kernels/cpu/simd/reduction/axis_plan.hpp"
#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"

/// Traversal of rows of contiguous elements: addressing, sharing among the team, and reductions over one row.
namespace CAIRN_LEVEL {

inline constexpr int max_row_axes = 8;

/// Offsets of the rows of a tensor, over its leading axes, merged where one stride covers them.
struct RowOffsets {
    int axes = 0;
    std::int64_t shape[max_row_axes], strides[max_row_axes];
    std::int64_t count = 1;

    RowOffsets() = default;
    /// The first `leading` axes of `arg`.
    RowOffsets(const TensorArg& arg, int leading) {
        for (int axis = 0; axis < leading; ++axis) add(arg.shape[axis], arg.strides[axis]);
    }
    /// Adds an axis inside the others.
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
/// Number of elements along the plan's axes.
inline std::int64_t length_of(const TensorArg& arg, const AxisPlan& plan) {
    std::int64_t length = 1;
    for (int axis = plan.first; axis <= plan.last; ++axis) length *= arg.shape[axis];
    return length;
}

/// The part of the workspace that belongs to a team member. There are at most as many parts as rows: with fewer rows
/// than members the part is indexed by the first row that the member claims, otherwise by its rank.
class MemberMemory {
public:
    MemberMemory(const Args& args, const Team& team, std::int64_t bytes, std::int64_t rows)
        : workspace_(args.workspace), bytes_(bytes), rank_(team.rank()), has_few_rows_(rows < team.size()) {}
    /// `row`: one that this member has claimed.
    std::byte* at(std::int64_t row) {
        if (part_ < 0) part_ = has_few_rows_ ? row : rank_;
        return workspace_ + part_ * bytes_;
    }

private:
    std::byte* workspace_;
    std::int64_t bytes_, rank_, part_ = -1;
    bool has_few_rows_;
};

/// Calls f(begin, end) for this member's share of `count` rows of `width` elements, in chunks of about 32 KB of input.
template <typename F>
CAIRN_INLINE void share_chunks(Team& team, std::int64_t count, std::int64_t width, F f) {
    const std::int64_t rows = width < 4096 ? 8192 / (width > 0 ? width : 1) : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * rows < count; chunk = team.next_chunk())
        f(chunk * rows, (chunk + 1) * rows < count ? (chunk + 1) * rows : count);
}
/// Calls f(row) for each row of this member's share.
template <typename F>
CAIRN_INLINE void share_rows(Team& team, std::int64_t count, std::int64_t width, F f) {
    share_chunks(team, count, width, [&](std::int64_t row, std::int64_t end) {
        for (; row < end; ++row) f(row);
    });
}

/// Maximal length of rows that are processed in batches of `lanes`, which avoids waiting for one row's horizontal
/// reduction.
inline constexpr std::int64_t max_batched_row = 256;
/// Calls f<n>(row) for n rows from `row` on; n is `lanes` or 1.
template <typename F>
CAIRN_INLINE void share_row_batches(Team& team, std::int64_t count, std::int64_t width, F f) {
    share_chunks(team, count, width, [&](std::int64_t row, std::int64_t end) {
        if (width <= max_batched_row)
            for (; row + lanes <= end; row += lanes) f(std::integral_constant<int, lanes>(), row);
        for (; row < end; ++row) f(std::integral_constant<int, 1>(), row);
    });
}
/// Computes the horizontal reduction of the vector `row(r)` for each of n rows.
template <int n, typename Row, typename Join>
CAIRN_INLINE void reduce_rows(float (&joined)[n], Row row, Join combine) {
    if constexpr (n == 1) {
        joined[0] = reduce_lanes(row(0), combine);
    } else {
        F32 all[lanes];
        for (int r = 0; r < lanes; ++r) all[r] = row(r);
        store(joined, reduce_vectors_in_order(all, combine));
    }
}

/// A tensor's data as float, F16 or BF16.
template <typename Element>
CAIRN_INLINE Element* elements(const TensorArg& arg) {
    return reinterpret_cast<Element*>(arg.data);
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

/// The tail of a row as one vector: the last `lanes` elements if the row has as many, overlapping the vector before.
/// Overlapped elements are written twice, since stores of single lanes are slow. For a row that may be written in
/// place, f(at) must therefore be evaluated before anything is written.
struct RowTail {
    std::int64_t n, rest;

    explicit RowTail(std::int64_t width) : n(width), rest(width % lanes) {}
    /// Evaluates f(at), where at(p) loads the tail of row p.
    template <typename F>
    CAIRN_INLINE F32 of(F f) const {
        if (rest == 0) return F32{};
        if (n < lanes) return f([this](const auto* p) { return load_part(p, n); });
        return f([this](const auto* p) { return load(p + n - lanes); });
    }
    template <typename Element>
    CAIRN_INLINE void put(Element* row, F32 x) const {
        if (rest == 0) return;
        n < lanes ? store_part(row, x, n) : store(row + n - lanes, x);
    }
    /// `x` in the lanes that no earlier vector covers, 0 in the others.
    CAIRN_INLINE F32 unseen(F32 x) const {
        if (n < lanes) return first_lanes(n) != 0 ? x : F32{};
        return last_lanes_of<float>(x, rest, 0);
    }
};

/// out[i] = f(at), where at(p) loads the elements of row p from i on.
template <typename Element, typename F>
CAIRN_INLINE void map_row(Element* out, std::int64_t n, F f) {
    const RowTail end(n);
    const F32 last = end.of(f);
    for (std::int64_t i = 0; i + lanes <= n; i += lanes) store(out + i, f([i](const auto* p) { return load(p + i); }));
    end.put(out, last);
}

/// The sum, lane by lane, of f(x[i]), optionally stored to out[i]. Four independent sums hide the latency of additions;
/// partial sums are added every 32 vectors, so that small terms are not lost in a large sum.
template <bool writes, typename Element, typename F>
CAIRN_INLINE F32 sum_vectors([[maybe_unused]] float* out, const Element* x, std::int64_t n, F f) {
    const RowTail end(n);
    const F32 last = end.of([&](auto at) __attribute__((always_inline)) { return f(at(x)); });
    const auto vector = [&](std::int64_t i) __attribute__((always_inline)) {
        const F32 y = f(load(x + i));
        if constexpr (writes) store(out + i, y);
        return y;
    };
    F32 total{};
    std::int64_t i = 0;
    while (i + lanes <= n) {
        const std::int64_t until = n - i < 32 * lanes ? n : i + 32 * lanes;
        F32 s0{}, s1{}, s2{}, s3{};
        for (; i + 4 * lanes <= until; i += 4 * lanes) {
            s0 += vector(i);
            s1 += vector(i + lanes);
            s2 += vector(i + 2 * lanes);
            s3 += vector(i + 3 * lanes);
        }
        for (; i + lanes <= until; i += lanes) s0 += vector(i);
        total += (s0 + s1) + (s2 + s3);
    }
    if constexpr (writes) end.put(out, last);
    return end.rest == 0 ? total : total + end.unseen(last);
}
CAIRN_INLINE F32 add(F32 a, F32 b) { return a + b; }
/// The sum of f(x[i]), lane by lane.
template <typename Element, typename F>
CAIRN_INLINE F32 sum_lanes(const Element* x, std::int64_t n, F f) {
    return sum_vectors<false>(nullptr, x, n, f);
}
template <typename Element, typename F>
CAIRN_INLINE float sum_row(const Element* x, std::int64_t n, F f) {
    return reduce_lanes(sum_lanes(x, n, f), add);
}
/// out[i] = f(x[i]); returns their sum.
template <typename Element, typename F>
CAIRN_INLINE float map_sum_row(float* out, const Element* x, std::int64_t n, F f) {
    return reduce_lanes(sum_vectors<true>(out, x, n, f), add);
}

CAIRN_INLINE F32 larger(F32 a, F32 b) { return quick_max(a, b); }
/// The largest element, ignoring NaN, lane by lane; -inf for an empty row.
template <typename Element>
CAIRN_INLINE F32 max_lanes(const Element* x, std::int64_t n) {
    const F32 least = splat(-std::numeric_limits<float>::infinity());
    F32 m0 = least, m1 = least;
    std::int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        m0 = quick_max(load(x + i), m0);
        m1 = quick_max(load(x + i + lanes), m1);
    }
    for (; i + lanes <= n; i += lanes) m0 = quick_max(load(x + i), m0);
    if (i < n) m1 = quick_max(n < lanes ? first_lanes(n) != 0 ? load_part(x, n) : least : load(x + n - lanes), m1);
    return quick_max(m0, m1);
}
template <typename Element>
CAIRN_INLINE float max_row(const Element* x, std::int64_t n) {
    return reduce_lanes(max_lanes(x, n), larger);
}

}  // namespace CAIRN_LEVEL
