#pragma once

#include "kernels/cpu/simd/column_walk.hpp"
#include "kernels/cpu/simd/square.hpp"

/// Work along rows of few elements: blocks of them are transposed, so that each lane is a row of its own, and then
/// worked on as columns are.
namespace CAIRN_LEVEL {

inline constexpr std::int64_t longest_short = 32;
inline constexpr int short_rows = most_vectors * lanes;  ///< of a block

/// Short rows, and enough of them to fill half the lanes.
inline bool is_short(const Args& args, const AxisPlan& plan) {
    const std::int64_t length = length_of(args.inputs[0], plan);
    return plan.is_row && length > 0 && length <= longest_short && Rows(args.inputs[0], plan.first).count >= lanes / 2;
}

/// What a block of rows is transposed to.
struct ShortHeld {
    alignas(64) float memory[longest_short * short_rows];
    Held held;
};

/// Rows of `length` elements to columns; those behind the last row are zeros.
template <typename Element>
CAIRN_INLINE void read_short(Held& held, const Element* const* from) {
    for (std::int64_t first = 0; first < held.width; first += lanes) {
        for (std::int64_t i = 0; i < held.length; i += lanes) {
            const std::int64_t part = held.length - i < lanes ? held.length - i : lanes;
            transpose_square(
                [&](int r) { return first + r < held.width ? load_some(from[first + r] + i, part) : F32{}; },
                [&](int e, F32 x) {
                    if (e < part) store(held.rows + (i + e) * held.step + first, x);
                });
        }
    }
}

/// Columns, finished, to rows.
template <typename Element, typename Finish>
CAIRN_INLINE void write_short(const Held& held, Element* const* to, Finish finish) {
    for (std::int64_t first = 0; first < held.width; first += lanes) {
        const auto at = [first](const float* p) __attribute__((always_inline)) { return load(p + first); };
        for (std::int64_t i = 0; i < held.length; i += lanes) {
            const std::int64_t part = held.length - i < lanes ? held.length - i : lanes;
            transpose_square([&](int e) { return e < part ? finish(held, i + e, at) : F32{}; },
                             [&](int r, F32 x) {
                                 if (first + r < held.width) store_some(to[first + r] + i, x, part);
                             });
        }
    }
}

/// For this member's share of blocks of short rows: work(held) and finish(held, i, at) as work_across calls them.
template <typename Element, typename Work, typename Finish>
CAIRN_INLINE void work_along_short(const Args& args, Team& team, const AxisPlan& plan, Work work, Finish finish) {
    const Rows in(args.inputs[0], plan.first), out(args.outputs[0], plan.first);
    const std::int64_t length = length_of(args.inputs[0], plan);
    ShortHeld block;
    Held& held = block.held;
    held.rows = block.memory;
    held.step = short_rows;
    held.length = length;
    share_rows(team, (in.count + short_rows - 1) / short_rows, short_rows * length, [&](std::int64_t index) {
        const std::int64_t row = index * short_rows, left = in.count - row;
        held.width = left < short_rows ? left : short_rows;
        const Element* from[short_rows];
        Element* to[short_rows];
        for (std::int64_t r = 0; r < held.width; ++r) {
            from[r] = elements<const Element>(args.inputs[0]) + in.offset(row + r);
            to[r] = elements<Element>(args.outputs[0]) + out.offset(row + r);
        }
        read_short(held, from);
        work(held);
        write_short(held, to, finish);
    });
}

/// The same for whatever is taken by lanes: columns, and short rows.
template <typename Element, typename Work, typename Finish>
CAIRN_INLINE void by_lanes(const Args& args, Team& team, const AxisPlan& plan, Work work, Finish finish) {
    if (plan.is_row) return work_along_short<Element>(args, team, plan, work, finish);
    work_across<Element>(args, team, Across(args.inputs[0], args.outputs[0], plan), work, finish);
}

}  // namespace CAIRN_LEVEL
