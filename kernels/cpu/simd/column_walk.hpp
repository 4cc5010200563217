#pragma once

#include "kernels/cpu/simd/axis_plan.hpp"
#include "kernels/cpu/simd/row_walk.hpp"

#include <type_traits>

/// Work along an axis that is not the last: vectors lie across it, so that each lane is a column of its own.
namespace CAIRN_LEVEL {

/// x and y seen as [outer, length, width]: `length` elements along the plan's axes, which y may lack, and `width`
/// columns that are contiguous in both.
struct Across {
    std::int64_t length = 1, width = 1, x_step = 0, y_step = 0;
    Rows x_outer, y_outer;

    Across(const TensorArg& x, const TensorArg& y, const AxisPlan& plan) {
        const int lost = x.rank - y.rank;
        const auto y_stride = [&](int axis) { return y.strides[axis < plan.first ? axis : axis - lost]; };
        for (int axis = plan.first; axis <= plan.last; ++axis) {
            length *= x.shape[axis];
            if (x.shape[axis] == 1) continue;
            x_step = x.strides[axis];
            if (lost == 0) y_step = y.strides[axis];
        }
        int end = x.rank;  // of the outer axes
        for (; end - 1 > plan.last; --end) {
            const int axis = end - 1;
            if (x.shape[axis] != 1 && (x.strides[axis] != width || y_stride(axis) != width)) break;
            width *= x.shape[axis];
        }
        for (int axis = 0; axis < end; ++axis) {
            if (axis >= plan.first && axis <= plan.last) continue;
            x_outer.add(x.shape[axis], x.strides[axis]);
            y_outer.add(x.shape[axis], y_stride(axis));
        }
    }
};

/// Columns taken at once, `most` or fewer: sizes alone decide, so that there are blocks to share out.
inline std::int64_t block_of(const Across& across, std::int64_t most) {
    constexpr std::int64_t least = 64;
    const std::int64_t wanted = across.x_outer.count * across.width / 8 / least * least;
    return wanted < least ? (least < most ? least : most) : wanted < most ? wanted : most;
}

/// Calls f(x, y, columns) for this member's share of blocks of at most `block` columns, x and y where they begin.
template <typename Element, typename F>
CAIRN_INLINE void share_columns(const Args& args, Team& team, const Across& across, std::int64_t block, F f) {
    const TensorArg &x = args.inputs[0], &y = args.outputs[0];
    const std::int64_t blocks = (across.width + block - 1) / block, count = across.x_outer.count * blocks;
    const std::int64_t cells = (across.length > 0 ? across.length : 1) * block;
    const std::int64_t at_once = cells < 8192 ? 8192 / cells : 1;
    for (std::int64_t chunk = team.next_chunk(); chunk * at_once < count; chunk = team.next_chunk()) {
        const std::int64_t end = (chunk + 1) * at_once < count ? (chunk + 1) * at_once : count;
        for (std::int64_t i = chunk * at_once; i < end; ++i) {
            const std::int64_t outer = i / blocks, column = i % blocks * block, left = across.width - column;
            f(elements<const Element>(x) + across.x_outer.offset(outer) + column,
              elements<Element>(y) + across.y_outer.offset(outer) + column, left < block ? left : block);
        }
    }
}

/// A block of columns in f32, read from rows that may lie far apart, and what is known of each column.
struct Held {
    float* rows;
    std::int64_t step;  ///< no power of two: rows would fall on the same cache sets
    std::int64_t length, width;
    alignas(64) float of_column[widest_row / 4];
};

/// A strip of a block: so many vectors side by side that one hides the latency of another.
template <int vectors>
struct Strip {
    float* rows;
    std::int64_t step, length;

    CAIRN_INLINE F32 at(std::int64_t row, int vector) const { return load(rows + row * step + vector * lanes); }
    CAIRN_INLINE F32 set(std::int64_t row, int vector, F32 value) const {
        store(rows + row * step + vector * lanes, value);
        return value;
    }
};
inline constexpr int most_vectors = 4;

/// Calls f with the number of vectors that `width` columns fill, as a constant.
template <int vectors = most_vectors, typename F>
CAIRN_INLINE void with_vectors(std::int64_t width, F f) {
    if constexpr (vectors > 1) {
        if (width <= (vectors - 1) * lanes) return with_vectors<vectors - 1>(width, f);
    }
    f(std::integral_constant<int, vectors>());
}

/// f(strip, the strip's part of of_column) for a whole block.
template <typename F>
CAIRN_INLINE void each_strip(Held& held, F f) {
    for (std::int64_t column = 0; column < held.width; column += most_vectors * lanes) {
        with_vectors(held.width - column, [&](auto vectors) {
            f(Strip<vectors>{held.rows + column, held.step, held.length}, held.of_column + column);
        });
    }
}

/// For this member's share of blocks: reads the columns of x, calls work(held), and writes row i of y as finish(i, at)
/// says, where at(p) are the elements of a vector of p[0 .. width).
template <typename Element, typename Work, typename Finish>
CAIRN_INLINE void work_across(const Args& args, Team& team, const Across& across, Work work, Finish finish) {
    constexpr std::int64_t line = 64 / sizeof(Element);
    const std::int64_t length = across.length, rows = length > 0 ? length : 1;
    const std::int64_t wide = rows * widest_row < held_bytes ? rows * widest_row : held_bytes;
    const std::int64_t bytes = wide > rows * narrowest_row ? wide : rows * narrowest_row;
    Held held;
    held.rows = reinterpret_cast<float*>(args.workspace + (bytes + 63) / 64 * 64 * team.rank());
    held.length = length;
    const std::int64_t block = block_of(across, (bytes / rows / 64 - 1) * 16);
    share_columns<Element>(args, team, across, block, [&](const Element* x, Element* y, std::int64_t width) {
        held.width = width;
        held.step = (width + 15) / 16 * 16 + 16;
        // Rows are asked for some ahead: they lie too far apart for the hardware to foresee.
        const std::int64_t ahead = 1 + 512 / held.step;
        for (std::int64_t i = 0; i < length; ++i) {
            const Element *row = x + i * across.x_step, *later = row + ahead * across.x_step;
            for (std::int64_t j = 0; j < width; j += line) __builtin_prefetch(later + j, 0, 2);
            map_row(held.rows + i * held.step, width, [&](auto at) { return at(row); });
        }
        work(held);
        for (std::int64_t i = 0; i < length; ++i) {
            Element *row = y + i * across.y_step, *later = row + ahead * across.y_step;
            for (std::int64_t j = 0; j < width; j += line) __builtin_prefetch(later + j, 1, 2);
            map_row(row, width, [&](auto at) { return finish(held, i, at); });
        }
    });
}

/// What a strip knows of each column.
template <int vectors>
struct Totals {
    F32 of[vectors];
};

/// The sums of term(row, vector) down each column, folded every 32 rows, which keeps small terms from drowning in a
/// large sum.
template <int vectors, typename F>
CAIRN_INLINE Totals<vectors> sum_down(const Strip<vectors>& strip, F term) {
    Totals<vectors> total{};
    for (std::int64_t i = 0; i < strip.length;) {
        const std::int64_t end = strip.length - i < 32 ? strip.length : i + 32;
        Totals<vectors> part{};
        for (; i < end; ++i) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) part.of[v] += term(i, v);
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) total.of[v] += part.of[v];
    }
    return total;
}

/// The largest elements down each column, NaN aside; -inf where there are none.
template <int vectors>
CAIRN_INLINE Totals<vectors> max_down(const Strip<vectors>& strip) {
    Totals<vectors> largest;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) largest.of[v] = splat(-std::numeric_limits<float>::infinity());
    for (std::int64_t i = 0; i < strip.length; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) largest.of[v] = quick_max(strip.at(i, v), largest.of[v]);
    }
    return largest;
}

}  // namespace CAIRN_LEVEL
