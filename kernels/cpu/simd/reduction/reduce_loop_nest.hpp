#pragma once

#include "kernels/cpu/simd/elementwise/block_memory.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"

/// The axes that a reduction keeps and those it folds, those merged that one stride walks, and which of them lies in
/// the lanes of vectors.
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
    /// How many places follow along the last axis, this one among them.
    std::int64_t left(std::int64_t place) const { return count > 0 ? shape[count - 1] - place % shape[count - 1] : 1; }
    /// The offset of a row-major place by one list of strides.
    std::int64_t offset(const std::int64_t* strides, std::int64_t place) const {
        std::int64_t offset = 0;
        for (int i = count - 1; i >= 0; --i) {
            if (i == 0) return offset + place * strides[0];
            offset += place % shape[i] * strides[i];
            place /= shape[i];
        }
        return offset;
    }
};

/// A walk of one operand over axes, place after place.
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
    /// From the first place, where an axis may have none.
    void go_to(std::int64_t place) {
        if (place == 0) return;
        offset = axes.offset(axes.x, place);
        for (int i = axes.count - 1; i >= 0; --i) {
            at[i] = place % axes.shape[i];
            place /= axes.shape[i];
        }
    }
};

/// How a reduction is walked: vectors lie along a row that is folded, or across columns, each of which is.
struct ReduceLoopNest {
    ReduceAxes kept, folded;  ///< without the axis of the vectors
    bool is_row = false;
    std::int64_t length = 1, x_stride = 1, y_stride = 0;  ///< of the axis of the vectors
    std::int64_t steps = 1;                               ///< of `folded`
    std::int64_t terms = 1;                               ///< folded into one result
    std::int64_t window = 1, column_step = 1;             ///< so many columns make a result, results so far apart
    std::int64_t groups = 1;                              ///< so many times all columns, which are joined last
    std::int64_t planes = 0, plane_width = 1;             ///< [terms, plane_width] that are short and dense, if any

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
    /// Columns side by side, which alone would leave each member strips of rows that lie apart.
    bool has_cut_columns() const {
        return kept.count == 0 && window == 1 && groups == 1 && x_stride == 1 && length >= min_cut_columns &&
               length <= max_cut_columns && steps >= 2 * rows_of_piece;
    }

    /// Few long rows, which alone would not be shared out.
    bool has_cut_rows() const { return is_row && steps == 1 && length >= least_cut && kept.total() <= max_cut_rows; }

    /// Elements side by side that so many results are made of.
    std::int64_t span(std::int64_t results) const {
        return window > 1 ? (results - 1) * column_step + window : results * groups;
    }

private:
    /// Columns side by side that overlap, or touch and are to be converted, or are rows folded among others: each
    /// element is then folded down its own column once.
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
    /// Few columns side by side, and rows of them that are folded among others and follow each other: some rows are
    /// columns beside each other.
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
    /// Planes that follow each other without gaps, as their results do. Of two elements they are quicker as columns.
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
    /// Of axes of size `enough` the one whose elements lie nearest, else the longest; -1 where there is none.
    static int best(const ReduceAxes& axes, std::int64_t enough) {
        int near = -1, longest = -1;
        for (int i = 0; i < axes.count; ++i) {
            if (axes.shape[i] >= enough && (near < 0 || axes.x[i] < axes.x[near])) near = i;
            if (longest < 0 || axes.shape[i] > axes.shape[longest]) longest = i;
        }
        return near < 0 ? longest : near;
    }
    /// The kept axis along which rows of `folded` lie side by side; -1 where there is none, or the rows are too long to
    /// be columns.
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
