#pragma once

#include "kernels/cpu/simd/reduction/column_traversal.hpp"
#include "kernels/cpu/simd/vector/lane_shuffles.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

/// Reductions along few elements: short rows, or planes with short rows, are transposed, as many as there are lanes,
/// and then processed as columns.
namespace CAIRN_LEVEL {

inline constexpr int short_lanes = max_vectors * lanes;  ///< lanes of a block

/// x and y as small dense planes [length, width]. `together` consecutive planes form a piece, which one lane holds, so
/// that transposed squares are nearly full.
struct ShortPlanes {
    std::int64_t length = 0, width = 1, together = 1;
    RowOffsets x, y;

    ShortPlanes(const Args& args, const AxisPlan& plan) {
        if (plan.is_row) {
            length = length_of(args.inputs[0], plan);
            x = RowOffsets(args.inputs[0], plan.first), y = RowOffsets(args.outputs[0], plan.first);
        } else {
            const ColumnView across(args.inputs[0], args.outputs[0], plan);
            const bool dense = across.length == 1 || (across.x_step == across.width && across.y_step == across.width);
            if (dense) length = across.length;
            width = across.width;
            x = across.x_outer, y = across.y_outer;
        }
        if (!are_few()) return;
        const bool follow = x.axes == 1 && y.axes == 1 && x.strides[0] == elements() && y.strides[0] == elements();
        for (std::int64_t n = 2; follow && n * elements() <= max_elements_together && n * short_lanes <= x.count; ++n)
            if (squares(n) * together < squares(together) * n) together = n;
    }
    std::int64_t elements() const { return length * width; }
    /// True for rows and planes that are faster this way: short, and enough of them to fill half the lanes.
    bool are_few() const {
        return elements() > 0 && elements() <= (width == 1 ? longest_row : max_elements_together) &&
               x.count >= lanes / 2;
    }

private:
    static constexpr std::int64_t longest_row = 40, max_elements_together = 64;
    friend struct TransposedBlock;
    std::int64_t squares(std::int64_t n) const { return (n * elements() + lanes - 1) / lanes; }
};

/// Pieces of `together` planes, one per lane; the planes of a piece are adjacent columns.
struct TransposedBlock {
    std::int64_t plane, together;
    int count;  ///< of pieces
    std::int64_t from[short_lanes], to[short_lanes];
    std::int64_t offsets[ShortPlanes::max_elements_together];  ///< of the elements of a piece: offsets in `memory`
    alignas(64) float memory[ShortPlanes::max_elements_together * short_lanes];

    std::int64_t elements() const { return plane * together; }
    void cut(std::int64_t plane_size, std::int64_t planes) {
        plane = plane_size, together = planes;
        for (std::int64_t i = 0; i < planes; ++i)
            for (std::int64_t e = 0; e < plane_size; ++e) offsets[i * plane_size + e] = (e * planes + i) * short_lanes;
    }
    std::int64_t step() const { return together * short_lanes; }  ///< from element to element of a plane
    std::int64_t width() const { return (together - 1) * short_lanes + (count + lanes - 1) / lanes * lanes; }
    float* row(std::int64_t element) { return memory + offsets[element]; }

    template <typename Element>
    void read(const Element* x) {
        elements() < lanes ? read_squares<false>(x) : read_squares<true>(x);
    }
    template <typename Element>
    void write(Element* y) {
        elements() < lanes ? write_squares<false>(y) : write_squares<true>(y);
    }

private:
    /// Calls f(first lane, first element); the last square overlaps the one before.
    template <typename F>
    CAIRN_INLINE void each_square(F f) const {
        const std::int64_t last = elements() - lanes;
        for (int first = 0; first < count; first += lanes)
            for (std::int64_t i = 0; i < elements(); i += lanes) f(first, i <= last || last < 0 ? i : last);
    }
    template <bool is_whole, typename Element>
    CAIRN_INLINE void read_squares(const Element* x) {
        each_square([&](int first, std::int64_t i) __attribute__((always_inline)) {
            transpose_square<F32>(
                [&](int r) {
                    return is_whole ? load(x + from[first + r] + i) : load_part(x + from[first + r], elements());
                },
                [&](int e, F32 v) {
                    if (is_whole || e < elements()) store(row(i + e) + first, v);
                });
        });
    }
    template <bool is_whole, typename Element>
    CAIRN_INLINE void write_squares(Element* y) {
        each_square([&](int first, std::int64_t i) __attribute__((always_inline)) {
            transpose_square<F32>([&](int e) { return is_whole || e < elements() ? load(row(i + e) + first) : F32{}; },
                                  [&](int r, F32 v) {
                                      is_whole ? store(y + to[first + r] + i, v)
                                               : store_part(y + to[first + r], v, elements());
                                  });
        });
    }
};

/// Runs a kernel on this member's share of the planes.
template <typename Element>
void run_short_planes(const Args& args, Team& team, const ShortPlanes& planes, const ColumnKernel& work) {
    TransposedBlock block;
    block.plane = block.together = 0;
    const std::int64_t plane = planes.elements();
    // Remaining planes that do not fill a piece are pieces of one plane, after the others.
    const std::int64_t pieces = planes.x.count / planes.together, rest = planes.x.count % planes.together;
    const std::int64_t whole_blocks = (pieces + short_lanes - 1) / short_lanes;
    const std::int64_t blocks = whole_blocks + (rest + short_lanes - 1) / short_lanes;
    share_rows(team, blocks, short_lanes * plane * planes.together, [&](std::int64_t index) {
        const bool is_whole = index < whole_blocks;
        const std::int64_t together = is_whole ? planes.together : 1;
        const std::int64_t first =
            is_whole ? index * short_lanes * together : pieces * planes.together + (index - whole_blocks) * short_lanes;
        const std::int64_t left = is_whole ? pieces - index * short_lanes : planes.x.count - first;
        block.count = static_cast<int>(left < short_lanes ? left : short_lanes);
        if (block.together != together) block.cut(plane, together);
        for (int r = 0; r < block.count; ++r) {
            block.from[r] = planes.x.offset(first + r * together);
            block.to[r] = planes.y.offset(first + r * together);
        }
        // Lanes without a piece repeat the last one.
        for (int r = block.count; r % lanes != 0; ++r)
            block.from[r] = block.from[block.count - 1], block.to[r] = block.to[block.count - 1];
        block.read(elements<const Element>(args.inputs[0]));
        const std::int64_t step = planes.width * block.step(), width = block.width();
        for (std::int64_t column = 0; column < planes.width; ++column)
            for (std::int64_t first = 0; first < width; first += columns_at_once) {
                float* const rows = block.row(column) + first;
                const std::int64_t columns = width - first < columns_at_once ? width - first : columns_at_once;
                run_in_cache({rows, step, rows, step, planes.length, columns, 0}, work);
            }
        block.write(elements<Element>(args.outputs[0]));
    });
}

/// Runs columns, short rows and short planes. Returns false, having done nothing, for rows that are processed one by
/// one.
template <typename Element>
bool run_lane_parallel(const Args& args, Team& team, const AxisPlan& plan, const ColumnKernel& work) {
    const ShortPlanes planes(args, plan);
    if (planes.are_few())
        run_short_planes<Element>(args, team, planes, work);
    else if (!plan.is_row)
        run_columns<Element>(args, team, ColumnView(args.inputs[0], args.outputs[0], plan), work);
    else
        return false;
    return true;
}

}  // namespace CAIRN_LEVEL
