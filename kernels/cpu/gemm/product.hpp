#pragma once

#include "kernels/cpu/gemm/dot.hpp"
#include "kernels/cpu/gemm/tasks.hpp"

#include <type_traits>

/// c = a @ b for plain matrices of any size and strides, batch by batch. Work is cut into blocks of rows times
/// runs of columns, of every number of threads' own choice. Within one a part of the depth at a time is done: the rows
/// of a as they lie or copied, a piece of b after another, in which all tiles of rows are computed while it is in the
/// first-level cache; sums wait in the second-level cache. Few rows are one tile or two, which read b as it lies; of
/// more the first tile does, and copies it for the others. While they compute they fetch the piece that comes next.
namespace CAIRN_LEVEL {

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
    /// Whether pieces of b are so short that they are read where they are: by one tile, or by two in turn,
    /// unless all rows of b share one place in the first-level cache.
    bool is_streamed() const {
        const Plain& b = factors.b;
        const bool are_two =
            is_native<T>(b.dtype) && rows.size() <= gemm_shared && b.row_stride * size % GemmBlocks::page_bytes != 0;
        return b.column_stride == 1 && (is_few() || are_two);
    }
    /// Whether whole columns of tiles go down all of the depth, reading a and b where they are.
    bool is_unfetched() const {
        return rows.size() <= gemm_unfetched && is_streamed() && is_native<T>(factors.b.dtype) && !copies_left();
    }
    std::int64_t width() const { return width_of<T>(rows.size()); }
    std::int64_t sum_stride() const { return (row_bytes_of(rows.size()) + GemmBlocks::line_bytes) / size; }
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

    /// A piece of b, and the place of the piece that is used behind it, if that is known.
    struct Piece {
        const T* b;
        std::int64_t stride, vectors;
        Span depth, across;
        const std::byte* next;
        bool is_last;
        bool is_copied;  ///< by the first tile
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
            nullptr, 0,        0,       shift,        right_scratch};
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
            if (piece.is_copied && tile == 0) {
                GemmTiles<T>::copying[static_cast<std::size_t>(part.size() - least_height)](source, to);
                source.b = right_scratch;
                source.b_stride = piece.vectors * lanes_wide;
            } else {
                table[static_cast<std::size_t>(part.size() - 1)](source, to);
            }
            if (piece.is_last && !is_direct) finish(part, piece.across);
        }
    }

    /// Where the piece of b is that comes next, or, for two tiles that read it as it lies, the one beneath, which is
    /// there for both; null where it is not known.
    const std::byte* next_of(Span depth, Span across) const noexcept {
        if (factors.b.column_stride != 1) return nullptr;
        const bool is_beneath = is_streamed() && !is_few();
        if (!is_beneath && across.end < columns.end) return factors.b.at(depth.begin, across.end);
        if (depth.end == factors.depth) return nullptr;
        return factors.b.at(depth.end, is_beneath ? across.begin : columns.begin);
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
                const bool is_whole =
                    b.column_stride == 1 && is_native<T>(b.dtype) && across.size() == vectors * lanes_wide;
                const bool is_copied = is_whole && !is_streamed() && vectors == 2;
                const bool lies = is_copied || (is_whole && is_streamed());
                if (!lies)
                    copy_block(right_scratch, vectors * lanes_wide, b, depth.begin, column, depth.size(), across.size(),
                               vectors * lanes_wide);
                const bool is_last = part + 1 == parts;
                run_piece(a, a_stride,
                          {lies ? reinterpret_cast<const T*>(b.at(depth.begin, column)) : right_scratch,
                           lies ? b.row_stride : vectors * lanes_wide, vectors, depth, across, next_of(depth, across),
                           is_last, is_copied});
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
            run_panels({whole, columns.end}, is_few()        ? GemmBlocks::streamed_depth
                                             : is_streamed() ? GemmBlocks::shared_depth
                                                             : most_depth());
    }
};

template <typename T>
void multiply_matrices(const Args& args, Team& team) noexcept {
    GemmTasks<T> tasks(args, static_cast<const GemmPlan*>(args.prepared)->dtype, team);
    std::byte* const scratch = args.workspace + GemmBlocks::bytes * team.rank();
    const auto at = [&](std::int64_t offset) { return reinterpret_cast<T*>(scratch + offset); };
    for (std::int64_t number = tasks.first(); tasks.has(number); number = tasks.behind(number)) {
        const Task task = tasks.at(number);
        GemmTask<T>{task.factors,
                    task.rows,
                    task.columns,
                    at(0),
                    at(GemmBlocks::left_bytes),
                    at(GemmBlocks::left_bytes + GemmBlocks::right_bytes)}
            .run();
    }
}

}  // namespace CAIRN_LEVEL
