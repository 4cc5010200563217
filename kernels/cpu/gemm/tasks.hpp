#pragma once

#include "kernels/cpu/gemm/gemm_plan.hpp"
#include "kernels/cpu/gemm/packing.hpp"
#include "kernels/cpu/gemm/tile.hpp"
#include "kernels/cpu/simd/reduction/product_argmax.hpp"

#include <algorithm>

/// Splits a product into tasks, blocks of rows times runs of columns of each batch, which the threads of a team claim
/// one after another. The split depends on sizes and on the number of threads; results do not depend on the split.
namespace CAIRN_LEVEL {

/// One product of a batch.
struct GemmOperands {
    StridedMatrix a, b;
    std::int64_t rows, depth, columns;
    std::byte* c;
    DType c_dtype;
    std::int64_t c_row_stride, c_column_stride;
    ProductArgMax* largest = nullptr;  ///< takes the argmax of each row; c is then not written

    std::byte* out(std::int64_t row, std::int64_t column) const {
        return c + (row * c_row_stride + column * c_column_stride) * bytes_of(c_dtype);
    }
    /// The same product as c^T = b^T a^T.
    GemmOperands transposed() const {
        return {b.transposed(), a.transposed(), columns, depth, rows, c, c_dtype, c_column_stride, c_row_stride};
    }
};

struct IndexRange {
    std::int64_t begin, end;
    std::int64_t size() const { return end - begin; }
    /// Part `i` of `count` parts of nearly equal size.
    IndexRange part(std::int64_t i, std::int64_t count) const {
        return {begin + size() * i / count, begin + size() * (i + 1) / count};
    }
};

/// True if the rows are few enough to read b in place in narrow blocks.
template <typename T>
bool is_narrow(const GemmOperands& factors, std::int64_t rows) {
    return rows <= gemm_narrow && factors.b.column_stride == 1 && is_native<T>(factors.b.dtype);
}
/// Columns of a block of b (the width of a register tile) for a number of rows.
template <typename T>
std::int64_t width_of(const GemmOperands& factors, std::int64_t rows) {
    const int height = static_cast<int>(rows);
    const int vectors = rows > gemm_height            ? 2
                        : is_narrow<T>(factors, rows) ? narrow_vectors_of(height)
                                                      : vectors_of(height);
    return vectors * vec_lanes<T>;
}

inline StridedMatrix matrix_of(const TensorArg& arg, DType dtype) noexcept {
    return {arg.data, dtype, arg.strides[arg.rank - 2], arg.strides[arg.rank - 1]};
}

/// Offset of a batch, in elements. A weight given once has no batch axes.
inline std::int64_t batch_offset(const TensorArg& arg, const TensorArg& c, std::int64_t batch) noexcept {
    std::int64_t offset = 0;
    for (int axis = c.rank - 3; axis >= 0; --axis) {
        if (arg.rank == c.rank) offset += batch % c.shape[axis] * arg.strides[axis];
        batch /= c.shape[axis];
    }
    return offset;
}

/// True if all batches together are one matrix with more rows.
inline bool is_one_matrix(const TensorArg& arg) noexcept {
    for (int i = arg.rank - 3; i >= 0; --i)
        if (arg.strides[i] != arg.strides[i + 1] * arg.shape[i + 1]) return false;
    return true;
}
inline bool is_repeated(const TensorArg& b, const TensorArg& c) noexcept {
    for (int i = 0; i < c.rank - 2 && b.rank == c.rank; ++i)
        if (b.strides[i] != 0 && b.shape[i] != 1) return false;
    return true;
}

/// NC in bytes: the sums of one row that one thread computes at once for a number of rows, in whole blocks of b. For
/// two tiles that read b in turn, prefetched one run of columns ahead, it is the minimum.
inline std::int64_t row_bytes_of(std::int64_t rows) noexcept {
    constexpr std::int64_t piece = 2 * GemmBlocks::line_bytes;
    if (rows > gemm_height && rows <= gemm_shared) return GemmBlocks::min_row_bytes;
    return std::min((GemmBlocks::sum_bytes / rows - GemmBlocks::line_bytes) / piece * piece, GemmBlocks::max_row_bytes);
}

/// Number of row blocks and column runs of the split.
struct TaskGrid {
    std::int64_t blocks, runs;
};
template <typename T>
TaskGrid task_grid_of(const GemmOperands& factors, std::int64_t batches, int members) noexcept {
    constexpr std::int64_t least_rows = 2 * gemm_height;
    // Each task begins with a block of b that is not prefetched, so there are few tasks.
    const std::int64_t per_member = factors.rows <= gemm_narrow ? 1 : 2;
    const std::int64_t max_columns =
        row_bytes_of(std::min<std::int64_t>(factors.rows, GemmBlocks::rows)) / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t least_columns = std::max<std::int64_t>(width_of<T>(factors, factors.rows), 4 * vec_lanes<T>);
    TaskGrid cuts{(factors.rows + GemmBlocks::rows - 1) / GemmBlocks::rows,
                  (factors.columns + max_columns - 1) / max_columns};
    while (members > 1 && batches * cuts.blocks * cuts.runs < per_member * members) {
        const std::int64_t rows = factors.rows / cuts.blocks, columns = factors.columns / cuts.runs;
        if (columns >= 2 * least_columns && (columns >= rows || rows < 2 * least_rows))
            cuts.runs *= 2;
        else if (rows >= 2 * least_rows)
            cuts.blocks *= 2;
        else
            break;
    }
    cuts.runs = even_runs(cuts.runs, batches * cuts.blocks, members, factors.columns / least_columns);
    return cuts;
}

/// The block of the output that one task computes.
struct OutputBlock {
    GemmOperands factors;
    IndexRange rows, columns;
};

template <typename T>
class GemmTasks {
public:
    /// Arguments must outlive the object. With `largest`, c is not stored.
    GemmTasks(const TensorArg& a, const TensorArg& b, const TensorArg& c, DType dtype, Team& team,
              ProductArgMax* largest = nullptr) noexcept
        : a_(a), b_(b), c_(c), team_(team) {
        for (int i = 0; i < c_.rank - 2; ++i) batches_ *= c_.shape[i];
        all_ = {matrix_of(a_, dtype),
                matrix_of(b_, dtype),
                c_.shape[c_.rank - 2],
                a_.shape[a_.rank - 1],
                c_.shape[c_.rank - 1],
                c_.data,
                dtype,
                c_.strides[c_.rank - 2],
                c_.strides[c_.rank - 1],
                largest};
        if (batches_ > 1 && is_repeated(b_, c_) && is_one_matrix(a_) && is_one_matrix(c_)) {
            all_.rows *= batches_;
            batches_ = 1;
        }
        if (batches_ == 0 || all_.rows == 0 || all_.columns == 0) return;
        is_transposed_ = all_.columns < all_.rows && all_.columns <= gemm_height && largest == nullptr;
        task_grid_ = task_grid_of<T>(is_transposed_ ? all_.transposed() : all_, batches_, team.size());
        count_ = batches_ * task_grid_.blocks * task_grid_.runs;
        per_claim_ = std::max<std::int64_t>(count_ / (16 * team.size()), 1);
    }

    bool has(std::int64_t task) const noexcept { return task < count_; }
    /// Each thread starts with first() and continues with behind(task).
    std::int64_t first() noexcept { return team_.next_chunk() * per_claim_; }
    std::int64_t next(std::int64_t task) noexcept { return (task + 1) % per_claim_ != 0 ? task + 1 : first(); }

    OutputBlock at(std::int64_t task) const noexcept {
        GemmOperands one = all_;
        if (batches_ > 1) {
            const std::int64_t batch = task / (task_grid_.blocks * task_grid_.runs), bytes = bytes_of(one.c_dtype);
            one.a.data += batch_offset(a_, c_, batch) * bytes;
            one.b.data += batch_offset(b_, c_, batch) * bytes;
            one.c += batch_offset(c_, c_, batch) * bytes;
        }
        if (is_transposed_) one = one.transposed();
        const std::int64_t width = width_of<T>(one, one.rows), panels = (one.columns + width - 1) / width;
        const IndexRange columns = IndexRange{0, panels}.part(task % task_grid_.runs, task_grid_.runs);
        return {one,
                IndexRange{0, one.rows}.part(task / task_grid_.runs % task_grid_.blocks, task_grid_.blocks),
                {columns.begin * width, std::min(columns.end * width, one.columns)}};
    }

private:
    const TensorArg &a_, &b_, &c_;
    Team& team_;
    GemmOperands all_{};
    std::int64_t batches_ = 1, count_ = 0, per_claim_ = 1;
    bool is_transposed_ = false;
    TaskGrid task_grid_{};
};

}  // namespace CAIRN_LEVEL
