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
    const GemmOperands& factors;
    IndexRange rows, columns;
    T *left_scratch, *right_scratch, *sum_scratch;

    static constexpr std::int64_t size = sizeof(T), lanes_wide = vec_lanes<T>;
    bool copies_left() const { return !is_native<T>(factors.a.dtype) || factors.a.column_stride != 1; }
    /// Whether many rows so far apart share one place in the first-level cache.
    bool share_cache_set(std::int64_t row_stride) const {
        return rows.size() > 4 && row_stride * size % (GemmBlocks::page_bytes / 2) == 0;
    }
    /// Whether rows of a are copied though they could be read as they lie. Parts of rows leave room between them, which
    /// would use less than all places in the first-level cache.
    bool copies_rows_of_dots(std::int64_t most) const {
        return copies_left() || factors.depth > most || share_cache_set(factors.a.row_stride);
    }
    /// Whether sums of dots are put into c at once, but for more rows of a tile than one place holds lines.
    bool dots_in_c() const {
        return sums_in_c() && (std::min(rows.size(), dot_height()) <= GemmBlocks::cache_ways ||
                               !share_cache_set(factors.c_row_stride));
    }
    /// Of a part.
    std::int64_t max_depth() const {
        if (is_column_major()) return GemmBlocks::column_major_bytes / size;
        return copies_left() ? GemmBlocks::copied_bytes / size
                             : std::min(GemmBlocks::depth_bytes / size, GemmBlocks::max_depth);
    }
    /// Rows of a group at most: all of a tile where the depth is cut anyhow.
    std::int64_t dot_height() const {
        return is_few() && factors.depth * gemm_dots * size > GemmBlocks::dot_bytes ? gemm_height : gemm_dots;
    }
    /// Of a part of a that is used with one column of b after another: as much as stays in the first-level cache, and
    /// as finds room where all rows are copied, in whole lines. Bits depend on it: not on a thread's rows.
    std::int64_t dot_depth() const {
        constexpr std::int64_t line = GemmBlocks::line_bytes / size;
        const std::int64_t height = std::min(rows.size(), dot_height());
        const std::int64_t copied =
            GemmBlocks::copied_rows_bytes / std::min(factors.rows, GemmBlocks::rows) - line * size;
        const std::int64_t bytes = std::min(GemmBlocks::dot_bytes / height, copied);
        const std::int64_t most = bytes / size / line * line;
        const std::int64_t parts = std::max<std::int64_t>((factors.depth + most - 1) / most, 1);
        return std::max(((factors.depth + parts - 1) / parts + line - 1) / line, std::int64_t{1}) * line;
    }
    /// Whether sums of products along columns of b that lie one behind the other are faster than turning these.
    bool are_dots() const {
        const bool are_deep = factors.rows * GemmBlocks::dot_rows <= std::min(factors.depth, dot_depth());
        return factors.b.row_stride == 1 && factors.b.column_stride != 1 && (is_few() || are_deep);
    }
    bool is_few() const { return rows.size() <= gemm_height; }
    /// Whether pieces of b are so short that they are read where they are: by one tile, or by two in turn,
    /// unless all rows of b share one place in the first-level cache.
    bool is_streamed() const {
        const StridedMatrix& b = factors.b;
        const bool are_two = is_native<T>(b.dtype) && rows.size() <= gemm_shared && has_spread_sets();
        return b.column_stride == 1 && (is_few() || are_two);
    }
    /// Whether rows of b have more than one place in the first-level cache.
    bool has_spread_sets() const { return factors.b.row_stride * size % GemmBlocks::page_bytes != 0; }
    std::int64_t width() const { return width_of<T>(factors, rows.size()); }
    /// Whether the columns of b lie one behind the other, as numbers of T.
    bool is_column_major() const {
        return factors.b.column_stride != 1 && factors.b.row_stride == 1 && is_native<T>(factors.b.dtype);
    }
    std::int64_t sum_stride() const { return (row_bytes_of(rows.size()) + GemmBlocks::line_bytes) / size; }
    T* sums(std::int64_t row, std::int64_t column) const {
        return sum_scratch + (row - rows.begin) * sum_stride() + column - columns.begin;
    }

    /// Whether whole vectors of sums are results as they are.
    bool sums_in_c() const {
        return is_native<T>(factors.c_dtype) && factors.c_column_stride == 1 && factors.largest == nullptr;
    }

    /// The rows of a over a part of the depth: the first element, and the distance between rows.
    std::pair<const T*, std::int64_t> left(IndexRange depth, std::int64_t most) const noexcept {
        const StridedMatrix& a = factors.a;
        if (!copies_left()) return {reinterpret_cast<const T*>(a.at(rows.begin, depth.begin)), a.row_stride};
        const std::int64_t stride = most + GemmBlocks::line_bytes / size;
        pack_block(left_scratch, stride, a, rows.begin, depth.begin, rows.size(), depth.size(), depth.size());
        return {left_scratch, stride};
    }

    /// Sums to results, but for `skipped` ones before them.
    void finish(IndexRange done, IndexRange across, std::int64_t skipped = 0) const noexcept {
        if constexpr (std::is_same_v<T, float>)
            if (factors.largest != nullptr)
                return factors.largest->accumulate({done.begin, done.size(), across.begin, across.size(), sum_stride()},
                                                   sums(done.begin, across.begin) + skipped);
        for (std::int64_t row = done.begin; row < done.end; ++row)
            write_run(factors.out(row, across.begin), factors.c_dtype, sums(row, across.begin) + skipped,
                      factors.c_column_stride, across.size());
    }

    /// A piece of b, and the place of the piece that is used behind it, if that is known.
    struct Piece {
        const std::byte* b;
        std::int64_t stride, vectors;
        IndexRange depth, across;
        const std::byte* next;
        std::int64_t near;     ///< as tiles read it
        std::int64_t skipped;  ///< columns before those across, which other pieces are for
        bool is_last;
        bool is_copied;  ///< by the first tile
    };

    /// What a tile asks for of the piece of b that comes next: of several each a line of a row, or as many columns as a
    /// line has elements, over a share of the depth; a single one all of it. Lines are asked for by their last element:
    /// where rows begin within one, what is before is there already.
    template <typename Element>
    void ask(GemmSource<T, Element>& source, const Piece& piece, std::int64_t tile, std::int64_t tiles) const noexcept {
        constexpr std::int64_t line = GemmBlocks::line_bytes;
        const bool by_columns = is_column_major();
        const std::int64_t element = bytes_of(factors.b.dtype);
        const std::int64_t beside = std::max<std::int64_t>(width() * element / line, 1), share = tile / beside;
        source.ahead = reinterpret_cast<const char*>(source.a);
        source.ahead_step = 0;
        source.ahead_shift = 0;
        // Asking for columns takes more steps: few tiles do.
        const std::int64_t asking = by_columns ? std::min(tiles, 4 * beside) : tiles;
        while ((2 * beside << source.ahead_shift) <= asking) ++source.ahead_shift;
        if (piece.next == nullptr || share >> source.ahead_shift != 0) return;
        if (by_columns && (is_few() || piece.vectors != 2)) return;
        source.ahead_step = (by_columns ? factors.b.column_stride : factors.b.row_stride) * element;
        source.ahead = reinterpret_cast<const char*>(piece.next) + line - element +
                       tile % beside * (by_columns ? line / size * source.ahead_step : line) +
                       (piece.depth.size() >> source.ahead_shift) * share * (by_columns ? element : source.ahead_step);
    }

    /// A tile of one of the tables, or of those that ask for columns.
    GemmTile<T> tile_of(std::int64_t height, const GemmTile<T>* table, bool asks) const {
        // There are no columns of bytes as numbers of 16 bits.
        if constexpr (sizeof(T) > 2)
            if (is_column_major() && asks) return GemmTiles<T>::asking[static_cast<std::size_t>(height - min_height)];
        return table[static_cast<std::size_t>(height - 1)];
    }
    /// Whether few rows read whole pieces of b as they lie and widen them in registers.
    bool widens() const {
        const DType dtype = factors.b.dtype;
        const bool is_possible = dtype == DType::bf16 || (dtype == DType::f16 && widens_in_registers<F16>);
        return is_possible && is_few() && factors.b.column_stride == 1;
    }
    /// Tiles of all rows over one piece of b, of T or, where it is widened, of Element. Together they fetch the next.
    template <typename Element = T>
    void run_piece(const T* a, std::int64_t a_stride, const Piece& piece) const noexcept {
        const std::int64_t tiles = (rows.size() + gemm_height - 1) / gemm_height;
        const bool is_widest = is_few() && piece.vectors * lanes_wide == width();
        const GemmTile<T>* const table = !is_widest
                                             ? GemmTiles<T>::shared[static_cast<std::size_t>(piece.vectors - 1)].data()
                                         : is_narrow<T>(factors, rows.size()) ? GemmTiles<T>::narrow.data()
                                                                              : GemmTiles<T>::template widest<>.data();
        const bool is_direct = sums_in_c() && piece.across.size() == piece.vectors * lanes_wide;
        const std::int64_t stride = is_direct ? factors.c_row_stride : sum_stride();
        const Element* const b = reinterpret_cast<const Element*>(piece.b);
        GemmSource<T, Element> source{
            a,       a_stride, b, piece.stride, piece.depth.size(), stride, piece.depth.begin > 0, piece.near,
            nullptr, 0,        0, right_scratch};
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const IndexRange part = rows.part(tile, tiles);
            source.a = a + (part.begin - rows.begin) * a_stride;
            ask(source, piece, tile, tiles);
            T* const to = is_direct ? reinterpret_cast<T*>(factors.out(part.begin, piece.across.begin))
                                    : sums(part.begin, piece.across.begin);
            if constexpr (!std::is_same_v<Element, T>) {
                GemmTiles<T>::template widest<Element>[static_cast<std::size_t>(part.size() - 1)](source, to);
            } else if (piece.is_copied && tile == 0) {
                GemmTiles<T>::copying[static_cast<std::size_t>(part.size() - min_height)](source, to);
                source.b = right_scratch;
                source.b_stride = piece.vectors * lanes_wide;
            } else {
                tile_of(part.size(), table, source.ahead_step != 0)(source, to);
            }
            source.near = 0;  // the first tile brought it
            if (piece.is_last && !is_direct) finish(part, piece.across, piece.skipped);
        }
    }

    /// Where the piece of b is that comes next, or, for two tiles that read it as it lies, the one beneath, which is
    /// there for both; null where it is not known.
    const std::byte* next_of(IndexRange depth, IndexRange across) const noexcept {
        if (factors.b.column_stride != 1 && !is_column_major()) return nullptr;
        const bool is_beneath = is_streamed() && !is_few();
        if (!is_beneath && across.end < columns.end) return factors.b.at(depth.begin, across.end);
        if (depth.end == factors.depth) return nullptr;
        return factors.b.at(depth.end, is_beneath ? across.begin : columns.begin);
    }
    /// How far ahead lines of b as it lies come into the first-level cache: where rows do not begin with a line.
    std::int64_t near() const noexcept {
        const std::int64_t line = GemmBlocks::line_bytes;
        const bool are_lines =
            factors.b.row_stride * size % line == 0 &&
            reinterpret_cast<std::uintptr_t>(factors.b.data) % static_cast<std::uintptr_t>(line) == 0;
        return are_lines ? 0 : GemmBlocks::near_rows * factors.b.row_stride;
    }

    /// At most so much of the depth at a time.
    void run_depth_panels(std::int64_t most) const noexcept {
        const StridedMatrix& b = factors.b;
        const std::int64_t parts = std::max<std::int64_t>((factors.depth + most - 1) / most, 1);
        for (std::int64_t part = 0; part < parts; ++part) {
            const IndexRange depth = IndexRange{0, factors.depth}.part(part, parts);
            const auto [a, a_stride] = left(depth, most);
            for (std::int64_t column = columns.begin; column < columns.end; column += width()) {
                const IndexRange across{column, std::min(columns.end, column + width())};
                const std::int64_t vectors = across.size() > 2 * lanes_wide ? width() / lanes_wide
                                             : across.size() > lanes_wide   ? 2
                                                                            : 1;
                // The last piece, where it fills no vector, begins before its columns.
                const std::int64_t first =
                    std::max<std::int64_t>(std::min(column, across.end - vectors * lanes_wide), 0);
                const bool is_last = part + 1 == parts;
                if constexpr (std::is_same_v<T, float>)
                    if (across.size() == width() && widens()) {
                        const Piece piece{b.at(depth.begin, column),
                                          b.row_stride,
                                          vectors,
                                          depth,
                                          across,
                                          next_of(depth, across),
                                          0,
                                          0,
                                          is_last,
                                          false};
                        if (b.dtype == DType::f16)
                            run_piece<F16>(a, a_stride, piece);
                        else
                            run_piece<BF16>(a, a_stride, piece);
                        continue;
                    }
                const bool is_whole =
                    b.column_stride == 1 && is_native<T>(b.dtype) && across.end - first == vectors * lanes_wide;
                const bool is_copied = is_whole && !is_streamed() && vectors == 2;
                // A single vector, of columns behind the whole pieces, takes all rows longer to copy than to read.
                const bool lies = is_copied || (is_whole && (is_streamed() || (vectors == 1 && has_spread_sets())));
                if (!lies)
                    pack_block(right_scratch, vectors * lanes_wide, b, depth.begin, column, depth.size(), across.size(),
                               vectors * lanes_wide);
                run_piece(a, a_stride,
                          {lies ? b.at(depth.begin, first) : reinterpret_cast<const std::byte*>(right_scratch),
                           lies ? b.row_stride : vectors * lanes_wide, vectors, depth, across, next_of(depth, across),
                           lies ? near() : 0, lies ? column - first : 0, is_last, is_copied});
            }
        }
    }

    /// How rows are gone through where the columns of b lie one behind the other.
    struct DotBlocking {
        std::int64_t most;    ///< depth of a part
        std::int64_t groups;  ///< of rows
        std::int64_t side;    ///< columns that all groups are done with while they are in the second-level cache
        bool copies;          ///< rows of a, part behind part; else there is one part
        std::int64_t parts;   ///< at once
        const T* a;
        std::int64_t a_stride, part_stride;
    };
    DotBlocking dot_blocking(std::int64_t bytes_of_b) const noexcept {
        DotBlocking cut{};
        cut.most = dot_depth();
        cut.groups = (rows.size() + dot_height() - 1) / dot_height();
        const std::int64_t bytes = std::max<std::int64_t>(std::min(cut.most, factors.depth) * bytes_of_b, 1);
        const std::int64_t shared = GemmBlocks::shared_bytes * (cut.groups == 1 ? 2 : 1);
        const bool is_one = cut.groups == 1 && factors.depth <= cut.most;
        cut.side = is_one ? columns.size() : std::max<std::int64_t>(shared / bytes / dot_tiles, 1) * dot_tiles;
        cut.copies = copies_rows_of_dots(cut.most);
        cut.a_stride = cut.copies ? cut.most + GemmBlocks::line_bytes / size : factors.a.row_stride;
        cut.part_stride = cut.copies ? rows.size() * cut.a_stride : cut.most;
        cut.parts = cut.copies ? GemmBlocks::copied_rows_bytes / size / cut.part_stride : 1;
        return cut;
    }

    /// Some columns after another, of these a part of the depth after another, since processors fetch what lies behind
    /// a part too: with it all groups of rows. As much of the depth at once as rows of a find room when copied.
    template <typename Element>
    void run_dots() const noexcept {
        DotBlocking cut = dot_blocking(sizeof(Element));
        const std::int64_t deep = cut.parts * cut.most;
        for (std::int64_t begin = 0; begin == 0 || begin < factors.depth; begin += deep) {
            const IndexRange whole{begin, std::min(begin + deep, factors.depth)};
            cut.a = cut.copies ? left_scratch : reinterpret_cast<const T*>(factors.a.at(rows.begin, begin));
            for (std::int64_t k = begin; cut.copies && k < whole.end; k += cut.most) {
                const std::int64_t depth = std::min(cut.most, whole.end - k);
                pack_block(left_scratch + (k - begin) / cut.most * cut.part_stride, cut.a_stride, factors.a, rows.begin,
                           k, rows.size(), depth, depth);
            }
            for (std::int64_t column = columns.begin; column < columns.end; column += cut.side)
                for (std::int64_t k = begin; k == begin || k < whole.end; k += cut.most)
                    run_dot_groups<Element>(cut, whole, {k, std::min(k + cut.most, whole.end)},
                                            {column, std::min(column + cut.side, columns.end)});
        }
        if (!dots_in_c()) finish(rows, columns);
    }
    /// Each group asks for a share of what comes next, so that memory never waits; of the first columns the first group
    /// asks for what it uses itself.
    template <typename Element>
    void run_dot_groups(const DotBlocking& cut, IndexRange whole, IndexRange depth, IndexRange across) const noexcept {
        const StridedMatrix& b = factors.b;
        const bool is_first = depth.begin == 0 && across.begin == columns.begin;
        const std::int64_t behind = dots_behind(whole, depth, across), shares = is_first ? 1 : cut.groups < 4 ? 2 : 4;
        const T* const a = cut.a + (depth.begin - whole.begin) / cut.most * cut.part_stride;
        for (std::int64_t group = 0; group < cut.groups; ++group) {
            const IndexRange part = rows.part(group, cut.groups);
            const std::int64_t near = group == 0 && (is_first || cut.groups == 1) ? across.size() : 0;
            compute_dots(DotSource<T, Element>{a + (part.begin - rows.begin) * cut.a_stride, cut.a_stride,
                                               reinterpret_cast<const Element*>(b.at(depth.begin, across.begin)),
                                               b.column_stride, 0, depth.size(),
                                               dots_in_c() ? factors.c_row_stride : sum_stride(), depth.begin > 0},
                         static_cast<int>(part.size()), across.size(),
                         {near, near > 0 && cut.groups > 1 ? 0 : behind, is_first ? group - 1 : group, shares},
                         dots_in_c() ? reinterpret_cast<T*>(factors.out(part.begin, across.begin))
                                     : sums(part.begin, across.begin));
        }
    }
    /// The distance to what is used behind a part of some columns, in elements of b; 0 behind the last.
    std::int64_t dots_behind(IndexRange whole, IndexRange depth, IndexRange across) const {
        const std::int64_t stride = factors.b.column_stride;
        if (depth.end < whole.end) return depth.size();
        if (across.end < columns.end) return across.size() * stride - (depth.begin - whole.begin);
        return whole.end < factors.depth ? depth.size() - (across.begin - columns.begin) * stride : 0;
    }

    void run() const noexcept {
        if constexpr (std::is_floating_point_v<T>) {
            if (are_dots()) {
                if constexpr (sizeof(T) == 4) {
                    if (factors.b.dtype == DType::f16) return run_dots<F16>();
                    if (factors.b.dtype == DType::bf16) return run_dots<BF16>();
                }
                return run_dots<T>();
            }
        }
        run_depth_panels(is_few()        ? GemmBlocks::streamed_depth
                         : is_streamed() ? GemmBlocks::shared_depth
                                         : max_depth());
    }
};

template <typename T>
void run_tasks(GemmTasks<T> tasks, std::byte* workspace, Team& team) noexcept {
    std::byte* const scratch = workspace + GemmBlocks::bytes * team.rank();
    const auto at = [&](std::int64_t offset) { return reinterpret_cast<T*>(scratch + offset); };
    for (std::int64_t number = tasks.first(); tasks.has(number); number = tasks.behind(number)) {
        const OutputBlock task = tasks.at(number);
        GemmTask<T>{task.factors,
                    task.rows,
                    task.columns,
                    at(0),
                    at(GemmBlocks::left_bytes),
                    at(GemmBlocks::left_bytes + GemmBlocks::right_bytes)}
            .run();
    }
}

template <typename T>
void multiply_matrices(const Args& args, Team& team) noexcept {
    const DType dtype = static_cast<const GemmPlan*>(args.prepared)->dtype;
    run_tasks(GemmTasks<T>(args.inputs[0], args.inputs[1], args.outputs[0], dtype, team), args.workspace, team);
}

}  // namespace CAIRN_LEVEL
