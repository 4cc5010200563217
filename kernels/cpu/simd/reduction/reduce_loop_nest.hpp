#pragma once

#include "kernels/cpu/simd/elementwise/block_memory.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"

/// The loop nest of a reduction: the kept and the reduced axes, merged where one stride covers them, and the axis that
/// is vectorised.
namespace CAIRN_LEVEL {

struct ReduceAxes {
    int count = 0;
    std::int64_t shape[max_reduce_rank], x[max_reduce_rank], y[max_reduce_rank];

    void add(std::int64_t size, std::int64_t x_stride, std::int64_t y_stride) {
        if (size == 1) return;
        const int last = count - 1;
        if (count > 0 && x[last] == x_stride * size && y[last] == y_stride * size) {
            shape[last] *= size;
        } else {
            shape[count++] = size;
        }
        x[count - 1] = x_stride;
        y[count - 1] = y_stride;
    }
    std::int64_t total() const {
        std::int64_t total = 1;
        for (int i = 0; i < count; ++i) total *= shape[i];
        return total;
    }
    void remove(int at) {
        --count;
        for (int i = at; i < count; ++i) shape[i] = shape[i + 1], x[i] = x[i + 1], y[i] = y[i + 1];
    }
    /// Number of positions from this one to the end of the last axis.
    std::int64_t left(std::int64_t position) const {
        return count > 0 ? shape[count - 1] - position % shape[count - 1] : 1;
    }
    /// Offset of a row-major position, by one list of strides.
    std::int64_t offset(const std::int64_t* strides, std::int64_t position) const {
        std::int64_t offset = 0;
        for (int i = count - 1; i >= 0; --i) {
            if (i == 0) return offset + position * strides[0];
            offset += position % shape[i] * strides[i];
            position /= shape[i];
        }
        return offset;
    }
};

/// Iterates over the offsets of one operand, position by position.
struct OffsetIterator {
    const ReduceAxes& axes;
    std::int64_t at[max_reduce_rank] = {}, offset = 0;

    void next() {
        for (int i = axes.count - 1; i >= 0; --i) {
            offset += axes.x[i];
            if (++at[i] < axes.shape[i]) return;
            offset -= axes.x[i] * axes.shape[i];
            at[i] = 0;
        }
    }
    /// Advances from the first position; the axes may be empty.
    void go_to(std::int64_t position) {
        if (position == 0) return;
        offset = axes.offset(axes.x, position);
        for (int i = axes.count - 1; i >= 0; --i) {
            at[i] = position % axes.shape[i];
            position /= axes.shape[i];
        }
    }
};

/// The loop nest: vectorised along a row that is reduced, or across columns, each of which is reduced.
struct ReduceLoopNest {
    ReduceAxes kept, folded;  ///< without the vectorised axis
    bool is_row = false;
    std::int64_t length = 1, x_stride = 1, y_stride = 0;  ///< of the vectorised axis
    std::int64_t steps = 1;                               ///< number of positions in `folded`
    std::int64_t terms = 1;                               ///< number of elements reduced to one result
    std::int64_t window = 1, column_step = 1;  ///< columns combined to one result, and distance between results
    std::int64_t groups = 1;                   ///< repetitions of all columns, combined last
    std::int64_t planes = 0, plane_width = 1;  ///< short dense planes [terms, plane_width]; 0: none

    ReduceLoopNest(const TensorArg& in, const TensorArg& out, const ReducePlan& plan) {
        const bool keeps = in.rank == out.rank;
        int of_out = 0;
        for (int axis = 0; axis < in.rank; ++axis) {
            if (plan.is_reduced[axis]) {
                folded.add(in.shape[axis], in.strides[axis], 0);
                of_out += keeps ? 1 : 0;
            } else {
                kept.add(in.shape[axis], in.strides[axis], out.strides[of_out++]);
            }
        }
        terms = folded.total();
        find_planes();
        choose(plan.fold != ReduceKind::argmax);
        column_step = x_stride;
        if (plan.fold != ReduceKind::argmax) {
            find_windows(bytes_of(plan.input) < 4);
            find_groups();
        }
        steps = folded.total();
    }
    /// True for adjacent columns that are split by rows; otherwise each member would read strips of distant rows.
    bool splits_columns() const {
        return kept.count == 0 && window == 1 && groups == 1 && x_stride == 1 && length >= min_cut_columns &&
               length <= max_cut_columns && steps >= 2 * rows_of_piece;
    }

    /// True for few long rows, which are split to get enough work to share.
    bool splits_rows() const { return is_row && steps == 1 && length >= least_cut && kept.total() <= max_cut_rows; }

    /// Number of adjacent elements that `results` results are computed from.
    std::int64_t span(std::int64_t results) const {
        return window > 1 ? (results - 1) * column_step + window : results * groups;
    }

private:
    /// Treats a reduced axis as a window over adjacent columns if windows overlap, or are adjacent and need conversion,
    /// or are rows reduced along with other axes. Each element is then reduced once down its own column, and windows
    /// are combined last.
    void find_windows(bool is_converted) {
        if (is_row) return;
        for (int i = 0; i < folded.count; ++i) {
            if (folded.x[i] != 1 || folded.shape[i] < 2) continue;
            const bool overlaps = (x_stride == 1 || x_stride == 2) && folded.shape[i] <= max_window &&
                                  (folded.shape[i] > x_stride || is_converted);
            const bool is_short_row = folded.count > 1 && x_stride == folded.shape[i] && x_stride >= min_joined_row &&
                                      x_stride <= max_joined_row;
            if (!overlaps && !is_short_row) continue;
            window = folded.shape[i];
            x_stride = 1;
            return folded.remove(i);
        }
    }
    /// If there are few adjacent columns and consecutive rows of them are reduced along with other axes, treats several
    /// rows as adjacent columns.
    void find_groups() {
        if (is_row || window > 1 || x_stride != 1 || length < 1 || length > max_grouped_row) return;
        if (kept.count == 0 && length >= min_cut_columns) return;
        for (int i = 0; i < folded.count; ++i) {
            if (folded.x[i] != length) continue;
            for (groups = max_grouped_elements / length; folded.shape[i] % groups != 0;) --groups;
            folded.shape[i] /= groups, folded.x[i] *= groups;
            if (folded.shape[i] == 1) folded.remove(i);
            return;
        }
    }
    /// Dense consecutive planes with dense results. Planes of two elements are faster as columns.
    void find_planes() {
        if (folded.count != 1) return;
        const std::int64_t width = folded.x[0];
        if (terms * width <= 2 || width < 1 || terms * width > max_plane_elements || kept.count != (width == 1 ? 1 : 2))
            return;
        if (kept.x[0] != terms * width || kept.y[0] != width || kept.shape[0] < min_planes) return;
        if (width > 1 && (kept.shape[1] != width || kept.x[1] != 1 || kept.y[1] != 1)) return;
        planes = kept.shape[0];
        plane_width = width;
    }
    /// Of the axes with at least `enough` elements the one with the smallest stride, otherwise the longest; -1 if there
    /// is none.
    static int best(const ReduceAxes& axes, std::int64_t enough) {
        int near = -1, longest = -1;
        for (int i = 0; i < axes.count; ++i) {
            if (axes.shape[i] >= enough && (near < 0 || axes.x[i] < axes.x[near])) near = i;
            if (longest < 0 || axes.shape[i] > axes.shape[longest]) longest = i;
        }
        return near < 0 ? longest : near;
    }
    /// The kept axis along which rows of `folded` are adjacent; -1 if there is none, or if the rows are too long to be
    /// columns.
    int axis_of_rows(int row) const {
        if (folded.count < 2 || folded.shape[row] > max_joined_row) return -1;
        for (int i = 0; i < kept.count; ++i)
            if (kept.x[i] == folded.shape[row]) return i;
        return -1;
    }
    void choose(bool joins_columns) {
        constexpr std::int64_t long_row = 16, some_columns = 8;
        const int row = best(folded, long_row);
        int column = best(kept, some_columns);
        const bool side_by_side = row >= 0 && folded.x[row] == 1 && folded.shape[row] >= long_row;
        const bool narrow = column < 0 || kept.shape[column] < some_columns;
        is_row = side_by_side || (row >= 0 && narrow && folded.shape[row] > some_columns) || column < 0;
        const int of_rows = joins_columns && side_by_side ? axis_of_rows(row) : -1;
        if (of_rows >= 0) is_row = false, column = of_rows;
        if (is_row && row >= 0) {
            length = folded.shape[row], x_stride = folded.x[row];
            folded.remove(row);
        } else if (column >= 0 && !is_row) {
            length = kept.shape[column], x_stride = kept.x[column], y_stride = kept.y[column];
            kept.remove(column);
        }
    }
};

}  // namespace CAIRN_LEVEL
