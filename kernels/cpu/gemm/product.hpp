#pragma once

#include "kernels/cpu/gemm/dot.hpp"
#include "kernels/cpu/gemm/gemm.hpp"

#include <algorithm>
#include <type_traits>

/// c = a @ b for plain matrices of any size and strides, batch by batch. Work is cut into blocks of rows times
/// runs of columns, of every number of threads' own choice. Within one a part of the depth at a time is done: the rows
/// of a as they lie or copied, a piece of b after another, in which all tiles of rows are computed while it is in the
/// first-level cache; sums wait in the second-level cache. Few rows are one tile or two, which read b as it lies.
namespace CAIRN_LEVEL {

/// One product of a batch.
struct Factors {
    Plain a, b;
    std::int64_t rows, depth, columns;
    std::byte* c;
    DType c_dtype;
    std::int64_t c_row_stride, c_column_stride;

    std::byte* out(std::int64_t row, std::int64_t column) const {
        return c + (row * c_row_stride + column * c_column_stride) * bytes_of(c_dtype);
    }
    /// The same as c^T = b^T a^T.
    Factors transposed() const {
        return {b.transposed(), a.transposed(), columns, depth, rows, c, c_dtype, c_column_stride, c_row_stride};
    }
};

struct Span {
    std::int64_t begin, end;
    std::int64_t size() const { return end - begin; }
    /// Part `i` of `count` nearly equal ones.
    Span part(std::int64_t i, std::int64_t count) const {
        return {begin + size() * i / count, begin + size() * (i + 1) / count};
    }
};

/// Columns of a piece of b for so many rows.
template <typename T>
constexpr std::int64_t width_of(std::int64_t rows) {
    return (rows <= gemm_height ? vectors_of(static_cast<int>(rows)) : 2) * wide_lanes<T>;
}

/// One thread's work: rows times columns of a product, and its memory.
template <typename T>
struct GemmTask {
    const Factors& factors;
    Span rows, columns;
    T *left_scratch, *right_scratch, *sum_scratch;

    static constexpr std::int64_t size = sizeof(T), lanes_wide = wide_lanes<T>;
    bool copies_left() const { return !is_native<T>(factors.a.dtype) || factors.a.column_stride != 1; }
    /// Of a part.
    std::int64_t most_depth() const {
        return copies_left() ? GemmBlocks::copied_bytes / size
                             : std::min(GemmBlocks::depth_bytes / size, GemmBlocks::most_depth);
    }
    bool is_few() const { return rows.size() <= gemm_height; }
    /// Whether pieces of b are so short that they are read where they are: by one tile, or by two in turn, unless all
    /// rows of b share one place in the first-level cache.
    bool is_streamed() const {
        const Plain& b = factors.b;
        const bool are_two = is_native<T>(b.dtype) && rows.size() <= 2 * gemm_height &&
                             b.row_stride * size % GemmBlocks::page_bytes != 0;
        return b.column_stride == 1 && (is_few() || are_two);
    }
    /// Whether whole columns of tiles go down all of the depth, reading a and b where they are.
    bool is_unfetched() const {
        return rows.size() <= gemm_unfetched && is_streamed() && is_native<T>(factors.b.dtype) && !copies_left();
    }
    std::int64_t width() const { return width_of<T>(rows.size()); }
    std::int64_t sum_stride() const {
        return ((is_few() ? GemmBlocks::few_row_bytes : GemmBlocks::row_bytes) + GemmBlocks::line_bytes) / size;
    }
    T* sums(std::int64_t row, std::int64_t column) const {
        return sum_scratch + (row - rows.begin) * sum_stride() + column - columns.begin;
    }

    /// Whether whole vectors of sums are results as they are.
    bool sums_in_c() const { return is_native<T>(factors.c_dtype) && factors.c_column_stride == 1; }

    /// The rows of a over a part of the depth: the first element, and the distance between rows.
    std::pair<const T*, std::int64_t> left(Span depth) const noexcept {
        const Plain& a = factors.a;
        if (!copies_left()) return {reinterpret_cast<const T*>(a.at(rows.begin, depth.begin)), a.row_stride};
        const std::int64_t stride = (GemmBlocks::copied_bytes + GemmBlocks::line_bytes) / size;
        copy_block(left_scratch, stride, a, rows.begin, depth.begin, rows.size(), depth.size(), depth.size());
        return {left_scratch, stride};
    }

    void finish(Span done, Span across) const noexcept {
        for (std::int64_t row = done.begin; row < done.end; ++row)
            write_run(factors.out(row, across.begin), factors.c_dtype, sums(row, across.begin), factors.c_column_stride,
                      across.size());
    }

    /// A piece of b, and the place of the piece that is used some time later, if that is known.
    struct Piece {
        const T* b;
        std::int64_t stride, vectors;
        Span depth, across;
        const std::byte* next;
        bool is_last;
    };

    /// Tiles of all rows over one piece of b. Together they fetch the next: each a line of a share of its rows, or, if
    /// there is one tile, all of it.
    void run_piece(const T* a, std::int64_t a_stride, const Piece& piece) const noexcept {
        const std::int64_t tiles = (rows.size() + gemm_height - 1) / gemm_height, element = bytes_of(factors.b.dtype);
        const bool is_widest = is_few() && piece.vectors * lanes_wide == width();
        const auto& table =
            is_widest ? GemmTiles<T>::widest : GemmTiles<T>::shared[static_cast<std::size_t>(piece.vectors - 1)];
        const bool is_direct = sums_in_c() && piece.across.size() == piece.vectors * lanes_wide;
        const std::int64_t stride = is_direct ? factors.c_row_stride : sum_stride();
        int shift = 0;
        while ((4 << shift) <= tiles) ++shift;
        GemmSource<T> source{
            a,       a_stride, piece.b, piece.stride, piece.depth.size(), stride, piece.depth.begin > 0,
            nullptr, 0,        0,       shift};
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const Span part = rows.part(tile, tiles);
            source.a = a + (part.begin - rows.begin) * a_stride;
            source.ahead = reinterpret_cast<const char*>(source.a);
            source.ahead_step = source.ahead_line = 0;
            if (const std::int64_t share = tile / 2; piece.next != nullptr && share < (1 << shift)) {
                source.ahead_step = factors.b.row_stride * element;
                source.ahead_line = lanes_wide * element;
                source.ahead = reinterpret_cast<const char*>(piece.next) + tile % 2 * source.ahead_line +
                               (piece.depth.size() >> shift) * share * source.ahead_step;
            }
            T* const to = is_direct ? reinterpret_cast<T*>(factors.out(part.begin, piece.across.begin))
                                    : sums(part.begin, piece.across.begin);
            table[static_cast<std::size_t>(part.size() - 1)](source, to);
            if (piece.is_last && !is_direct) finish(part, piece.across);
        }
    }

    /// Where the piece of b is that comes next, or, of those that are read as they lie, the one beneath, so that whole
    /// rows are fetched one behind the other; null where it is not known.
    const std::byte* next_of(Span depth, Span across) const noexcept {
        if (factors.b.column_stride != 1) return nullptr;
        if (!is_streamed() && across.end < columns.end) return factors.b.at(depth.begin, across.end);
        if (depth.end == factors.depth) return nullptr;
        return factors.b.at(depth.end, is_streamed() ? across.begin : columns.begin);
    }

    /// Some of the columns, at most so much of the depth at a time.
    void run_panels(Span some, std::int64_t most) const noexcept {
        const Plain& b = factors.b;
        const std::int64_t parts = std::max<std::int64_t>((factors.depth + most - 1) / most, 1);
        for (std::int64_t part = 0; part < parts; ++part) {
            const Span depth = Span{0, factors.depth}.part(part, parts);
            const auto [a, a_stride] = left(depth);
            for (std::int64_t column = some.begin; column < some.end; column += width()) {
                const Span across{column, std::min(some.end, column + width())};
                const std::int64_t vectors = across.size() > 2 * lanes_wide ? width() / lanes_wide
                                             : across.size() > lanes_wide   ? 2
                                                                            : 1;
                const bool lies = is_streamed() && is_native<T>(b.dtype) && across.size() == vectors * lanes_wide;
                if (!lies)
                    copy_block(right_scratch, vectors * lanes_wide, b, depth.begin, column, depth.size(), across.size(),
                               vectors * lanes_wide);
                const bool is_last = part + 1 == parts;
                run_piece(a, a_stride,
                          {lies ? reinterpret_cast<const T*>(b.at(depth.begin, column)) : right_scratch,
                           lies ? b.row_stride : vectors * lanes_wide, vectors, depth, across, next_of(depth, across),
                           is_last});
            }
        }
    }

    /// Few rows where the columns of b lie one behind the other.
    template <typename Element>
    void run_dots() const noexcept {
        const Plain& b = factors.b;
        for (std::int64_t row = rows.begin; row < rows.end; ++row)
            std::fill(sums(row, columns.begin), sums(row, columns.begin) + columns.size(), T{});
        const bool lies = !copies_left();
        const std::int64_t most = lies ? 4096 : most_depth(), parts = (factors.depth + most - 1) / most;
        for (std::int64_t part = 0; part < parts; ++part) {
            const Span depth = Span{0, factors.depth}.part(part, parts);
            const auto [a, a_stride] = left(depth);
            add_dots(a, a_stride, static_cast<int>(rows.size()),
                     reinterpret_cast<const Element*>(b.at(depth.begin, columns.begin)), b.column_stride,
                     columns.size(), depth.size(), sums(rows.begin, columns.begin), sum_stride());
        }
        finish(rows, columns);
    }

    void run() const noexcept {
        if constexpr (std::is_floating_point_v<T>) {
            if (is_few() && factors.b.row_stride == 1 && factors.b.column_stride != 1) {
                if constexpr (sizeof(T) == 4) {
                    if (factors.b.dtype == DType::f16) return run_dots<F16>();
                    if (factors.b.dtype == DType::bf16) return run_dots<BF16>();
                }
                return run_dots<T>();
            }
        }
        const std::int64_t whole = is_unfetched() ? columns.begin + columns.size() / width() * width() : columns.begin;
        if (whole > columns.begin) run_panels({columns.begin, whole}, std::max<std::int64_t>(factors.depth, 1));
        if (whole < columns.end)
            run_panels({whole, columns.end},
                       is_streamed() ? GemmBlocks::streamed_depth : most_depth() / (is_few() ? 8 : 1));
    }
};

inline Plain plain_of(const TensorArg& arg, DType dtype) noexcept {
    return {arg.data, dtype, arg.strides[arg.rank - 2], arg.strides[arg.rank - 1]};
}

/// Batch axes, outermost first; a weight that is given once has none.
inline std::int64_t batch_offset(const TensorArg& arg, const TensorArg& c, std::int64_t batch) noexcept {
    std::int64_t offset = 0;
    for (int axis = c.rank - 3; axis >= 0; --axis) {
        if (arg.rank == c.rank) offset += batch % c.shape[axis] * arg.strides[axis];
        batch /= c.shape[axis];
    }
    return offset;
}

/// Whether all batches are one matrix of more rows.
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

/// Into how many blocks of rows and runs of columns a product is cut.
struct Cuts {
    std::int64_t blocks, runs;
};
template <typename T>
Cuts cuts_of(const Factors& factors, std::int64_t batches, int members) noexcept {
    constexpr std::int64_t least_rows = 2 * gemm_height;
    const bool is_few = factors.rows <= gemm_height;
    const std::int64_t per_member = factors.rows <= gemm_unfetched ? 1 : is_few ? 2 : 6;
    const std::int64_t most_columns =
        (is_few ? GemmBlocks::few_row_bytes : GemmBlocks::row_bytes) / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t least_columns = std::max<std::int64_t>(width_of<T>(factors.rows), 4 * wide_lanes<T>);
    Cuts cuts{(factors.rows + GemmBlocks::rows - 1) / GemmBlocks::rows,
              (factors.columns + most_columns - 1) / most_columns};
    while (members > 1 && batches * cuts.blocks * cuts.runs < per_member * members) {
        const std::int64_t rows = factors.rows / cuts.blocks, columns = factors.columns / cuts.runs;
        if (columns >= 2 * least_columns && (columns >= rows || rows < 2 * least_rows))
            cuts.runs *= 2;
        else if (rows >= 2 * least_rows)
            cuts.blocks *= 2;
        else
            break;
    }
    return cuts;
}

template <typename T>
void multiply_matrices(const Args& args, Team& team) noexcept {
    const GemmPlan& plan = *static_cast<const GemmPlan*>(args.prepared);
    const TensorArg &a = args.inputs[0], &b = args.inputs[1], &c = args.outputs[0];
    std::int64_t batches = 1;
    for (int i = 0; i < c.rank - 2; ++i) batches *= c.shape[i];
    Factors all{plain_of(a, plan.dtype),
                plain_of(b, plan.dtype),
                c.shape[c.rank - 2],
                a.shape[a.rank - 1],
                c.shape[c.rank - 1],
                c.data,
                plan.dtype,
                c.strides[c.rank - 2],
                c.strides[c.rank - 1]};
    if (batches > 1 && is_repeated(b, c) && is_one_matrix(a) && is_one_matrix(c)) {
        all.rows *= batches;
        batches = 1;
    }
    if (batches == 0 || all.rows == 0 || all.columns == 0) return;
    const bool is_turned = all.columns < all.rows && all.columns <= gemm_height;
    const Factors shape = is_turned ? all.transposed() : all;
    const Cuts cuts = cuts_of<T>(shape, batches, team.size());
    const std::int64_t tasks = batches * cuts.blocks * cuts.runs;
    const std::int64_t per_chunk = std::max<std::int64_t>(tasks / (16 * team.size()), 1);
    auto* scratch = args.workspace + GemmBlocks::bytes * team.rank();
    T* const left = reinterpret_cast<T*>(scratch);
    scratch += GemmBlocks::left_bytes;
    T *const right = reinterpret_cast<T*>(scratch), *const sums =
                                                        reinterpret_cast<T*>(scratch + GemmBlocks::right_bytes);
    for (std::int64_t first = team.next_chunk() * per_chunk; first < tasks; first = team.next_chunk() * per_chunk) {
        for (std::int64_t task = first; task < std::min(tasks, first + per_chunk); ++task) {
            const std::int64_t batch = task / (cuts.blocks * cuts.runs);
            Factors one = all;
            if (batches > 1) {
                one.a.data += batch_offset(a, c, batch) * bytes_of(plan.dtype);
                one.b.data += batch_offset(b, c, batch) * bytes_of(plan.dtype);
                one.c += batch_offset(c, c, batch) * bytes_of(plan.dtype);
            }
            if (is_turned) one = one.transposed();
            const std::int64_t width = width_of<T>(one.rows), panels = (one.columns + width - 1) / width;
            Span columns = Span{0, panels}.part(task % cuts.runs, cuts.runs);
            columns = {columns.begin * width, std::min(columns.end * width, one.columns)};
            const Span rows = Span{0, one.rows}.part(task / cuts.runs % cuts.blocks, cuts.blocks);
            GemmTask<T>{one, rows, columns, left, right, sums}.run();
        }
    }
}

}  // namespace CAIRN_LEVEL
