#pragma once

#include "kernels/cpu/gemm/dot.hpp"
#include "kernels/cpu/gemm/tasks.hpp"

#include <type_traits>

/// c = a @ b for plain matrices of any size and strides, batch by batch. The output is split into blocks of rows times
/// runs of columns; the split depends on the number of threads. Within a block the loop nest is: a part of the depth
/// (KC), whose rows of a are read in place or packed; blocks of b that stay in L1 while all row tiles use them; sums
/// wait in L2. With few rows there are one or two tiles, which read b in place. With more rows the first tile packs b
/// for the others. Tiles prefetch the next block while they compute.
namespace CAIRN_LEVEL {

/// The output block computed by one thread, with its scratch memory.
template <typename T>
struct GemmTask {
    const GemmOperands& factors;
    IndexRange rows, columns;
    T *a_scratch, *b_scratch, *sum_scratch;

    static constexpr std::int64_t size = sizeof(T), lanes_wide = vec_lanes<T>;
    bool copies_left() const { return !is_native<T>(factors.a.dtype) || factors.a.column_stride != 1; }
    /// True if there are many rows and their stride maps them to one set of the L1 cache.
    bool share_cache_set(std::int64_t row_stride) const {
        return rows.size() > 4 && row_stride * size % (GemmBlocks::page_bytes / 2) == 0;
    }
    /// True if rows of a are packed even though they could be read in place: parts of rows leave gaps, which would use
    /// only some of the L1 cache sets.
    bool packs_rows_of_dots(std::int64_t most) const {
        return copies_left() || factors.depth > most || share_cache_set(factors.a.row_stride);
    }
    /// True if dot products store their sums directly to c: not if the rows of a tile map to one L1 set and exceed its
    /// ways.
    bool stores_dots_directly() const {
        return sums_in_c() && (std::min(rows.size(), dot_height()) <= GemmBlocks::cache_ways ||
                               !share_cache_set(factors.c_row_stride));
    }
    /// Maximal depth of a part (KC).
    std::int64_t max_depth() const {
        if (is_column_major()) return GemmBlocks::column_major_bytes / size;
        return copies_left() ? GemmBlocks::copied_bytes / size
                             : std::min(GemmBlocks::depth_bytes / size, GemmBlocks::max_depth);
    }
    /// Maximal rows of a group: a whole tile if the depth is split in any case.
    std::int64_t dot_height() const {
        return is_few() && factors.depth * gemm_dots * size > GemmBlocks::dot_bytes ? gemm_height : gemm_dots;
    }
    /// Depth of a part of a that is kept in L1 while columns of b pass: bounded by L1 and by the scratch for packed
    /// rows, in whole cache lines. Results depend on it, so it does not depend on how rows are shared among threads.
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
    /// True if dot products along a column-major b are faster than transposing it.
    bool uses_dot_products() const {
        const bool are_deep = factors.rows * GemmBlocks::dot_rows <= std::min(factors.depth, dot_depth());
        return factors.b.row_stride == 1 && factors.b.column_stride != 1 && (is_few() || are_deep);
    }
    bool is_few() const { return rows.size() <= gemm_height; }
    /// True if blocks of b are short enough to be read in place by one tile, or by two in turn, unless all rows of b
    /// map to one set of the L1 cache.
    bool is_streamed() const {
        const StridedMatrix& b = factors.b;
        const bool are_two = is_native<T>(b.dtype) && rows.size() <= gemm_shared && has_spread_sets();
        return b.column_stride == 1 && (is_few() || are_two);
    }
    /// True if rows of b map to more than one set of the L1 cache.
    bool has_spread_sets() const { return factors.b.row_stride * size % GemmBlocks::page_bytes != 0; }
    std::int64_t width() const { return width_of<T>(factors, rows.size()); }
    /// True if b is column-major and its elements need no conversion to T.
    bool is_column_major() const {
        return factors.b.column_stride != 1 && factors.b.row_stride == 1 && is_native<T>(factors.b.dtype);
    }
    std::int64_t sum_stride() const { return (row_bytes_of(rows.size()) + GemmBlocks::line_bytes) / size; }
    T* sums(std::int64_t row, std::int64_t column) const {
        return sum_scratch + (row - rows.begin) * sum_stride() + column - columns.begin;
    }

    /// True if whole vectors of sums can be stored to c unchanged.
    bool sums_in_c() const {
        return is_native<T>(factors.c_dtype) && factors.c_column_stride == 1 && factors.largest == nullptr;
    }

    /// Rows of a over a part of the depth: pointer to the first element, and row stride.
    std::pair<const T*, std::int64_t> left(IndexRange depth, std::int64_t most) const noexcept {
        const StridedMatrix& a = factors.a;
        if (!copies_left()) return {reinterpret_cast<const T*>(a.at(rows.begin, depth.begin)), a.row_stride};
        const std::int64_t stride = most + GemmBlocks::line_bytes / size;
        pack_block(a_scratch, stride, a, rows.begin, depth.begin, rows.size(), depth.size(), depth.size());
        return {a_scratch, stride};
    }

    /// Stores sums to the output, skipping the first `skipped` ones.
    void finish(IndexRange done, IndexRange across, std::int64_t skipped = 0) const noexcept {
        if constexpr (std::is_same_v<T, float>)
            if (factors.largest != nullptr)
                return factors.largest->accumulate({done.begin, done.size(), across.begin, across.size(), sum_stride()},
                                                   sums(done.begin, across.begin) + skipped);
        for (std::int64_t row = done.begin; row < done.end; ++row)
            write_run(factors.out(row, across.begin), factors.c_dtype, sums(row, across.begin) + skipped,
                      factors.c_column_stride, across.size());
    }

    /// A block of b, and the address of the block used after it, if known.
    struct Piece {
        const std::byte* b;
        std::int64_t stride, vectors;
        IndexRange depth, across;
        const std::byte* next;
        std::int64_t near;     ///< L1 prefetch distance while tiles read it
        std::int64_t skipped;  ///< leading columns that belong to other blocks
        bool is_last;
        bool is_copied;  ///< packed by the first tile
    };

    /// Sets what a tile prefetches of the next block of b. Several tiles share the block: each prefetches one cache
    /// line per row, or as many columns as a line has elements, over a share of the depth; a single tile prefetches
    /// all. A line is addressed by its last element: if rows are not line-aligned, the line before is already cached.
    template <typename Element>
    void set_prefetch(GemmSource<T, Element>& source, const Piece& piece, std::int64_t tile,
                      std::int64_t tiles) const noexcept {
        constexpr std::int64_t line = GemmBlocks::line_bytes;
        const bool by_columns = is_column_major();
        const std::int64_t element = bytes_of(factors.b.dtype);
        const std::int64_t tiles_per_share = std::max<std::int64_t>(width() * element / line, 1),
                           share = tile / tiles_per_share;
        source.ahead = reinterpret_cast<const char*>(source.a);
        source.ahead_step = 0;
        source.ahead_shift = 0;
        // Prefetching columns takes more steps, so fewer tiles do it.
        const std::int64_t prefetching = by_columns ? std::min(tiles, 4 * tiles_per_share) : tiles;
        while ((2 * tiles_per_share << source.ahead_shift) <= prefetching) ++source.ahead_shift;
        if (piece.next == nullptr || share >> source.ahead_shift != 0) return;
        if (by_columns && (is_few() || piece.vectors != 2)) return;
        source.ahead_step = (by_columns ? factors.b.column_stride : factors.b.row_stride) * element;
        source.ahead = reinterpret_cast<const char*>(piece.next) + line - element +
                       tile % tiles_per_share * (by_columns ? line / size * source.ahead_step : line) +
                       (piece.depth.size() >> source.ahead_shift) * share * (by_columns ? element : source.ahead_step);
    }

    /// A tile of the table, or the variant that prefetches columns.
    GemmTile<T> tile_of(std::int64_t height, const GemmTile<T>* table, bool prefetches) const {
        // A column-major b of bytes needs conversion to 16 bits, so this variant does not apply.
        if constexpr (sizeof(T) > 2)
            if (is_column_major() && prefetches)
                return GemmTiles<T>::prefetching[static_cast<std::size_t>(height - min_height)];
        return table[static_cast<std::size_t>(height - 1)];
    }
    /// True if few rows read whole blocks of b in place and widen them in registers.
    bool widens() const {
        const DType dtype = factors.b.dtype;
        const bool is_possible = dtype == DType::bf16 || (dtype == DType::f16 && widens_in_registers<F16>);
        return is_possible && is_few() && factors.b.column_stride == 1;
    }
    /// Runs the tiles of all rows over one block of b of type T, or of Element if it is widened. The tiles share the
    /// prefetch of the next block.
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
            nullptr, 0,        0, b_scratch};
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const IndexRange part = rows.part(tile, tiles);
            source.a = a + (part.begin - rows.begin) * a_stride;
            set_prefetch(source, piece, tile, tiles);
            T* const to = is_direct ? reinterpret_cast<T*>(factors.out(part.begin, piece.across.begin))
                                    : sums(part.begin, piece.across.begin);
            if constexpr (!std::is_same_v<Element, T>) {
                GemmTiles<T>::template widest<Element>[static_cast<std::size_t>(part.size() - 1)](source, to);
            } else if (piece.is_copied && tile == 0) {
                GemmTiles<T>::copying[static_cast<std::size_t>(part.size() - min_height)](source, to);
                source.b = b_scratch;
                source.b_stride = piece.vectors * lanes_wide;
            } else {
                tile_of(part.size(), table, source.ahead_step != 0)(source, to);
            }
            source.near = 0;  // the first tile loaded the block into L1
            if (piece.is_last && !is_direct) finish(part, piece.across, piece.skipped);
        }
    }

    /// The block of b to prefetch. For two tiles that read b in place it is the block below, which both use. Null if
    /// not known.
    const std::byte* next_of(IndexRange depth, IndexRange across) const noexcept {
        if (factors.b.column_stride != 1 && !is_column_major()) return nullptr;
        const bool is_beneath = is_streamed() && !is_few();
        if (!is_beneath && across.end < columns.end) return factors.b.at(depth.begin, across.end);
        if (depth.end == factors.depth) return nullptr;
        return factors.b.at(depth.end, is_beneath ? across.begin : columns.begin);
    }
    /// L1 prefetch distance for b read in place; nonzero if rows of b are not line-aligned.
    std::int64_t near() const noexcept {
        const std::int64_t line = GemmBlocks::line_bytes;
        const bool are_lines =
            factors.b.row_stride * size % line == 0 &&
            reinterpret_cast<std::uintptr_t>(factors.b.data) % static_cast<std::uintptr_t>(line) == 0;
        return are_lines ? 0 : GemmBlocks::near_rows * factors.b.row_stride;
    }

    /// Loops over the depth in parts of at most `most`.
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
                // The last block, if its columns do not fill the vectors, begins before its columns.
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
                // A single vector of remaining columns costs more to pack than to read in place.
                const bool is_read_in_place =
                    is_copied || (is_whole && (is_streamed() || (vectors == 1 && has_spread_sets())));
                if (!is_read_in_place)
                    pack_block(b_scratch, vectors * lanes_wide, b, depth.begin, column, depth.size(), across.size(),
                               vectors * lanes_wide);
                run_piece(a, a_stride,
                          {is_read_in_place ? b.at(depth.begin, first) : reinterpret_cast<const std::byte*>(b_scratch),
                           is_read_in_place ? b.row_stride : vectors * lanes_wide, vectors, depth, across,
                           next_of(depth, across), is_read_in_place ? near() : 0, is_read_in_place ? column - first : 0,
                           is_last, is_copied});
            }
        }
    }

    /// Blocking of dot products over a column-major b.
    struct DotBlocking {
        std::int64_t most;    ///< depth of a part
        std::int64_t groups;  ///< number of row groups
        std::int64_t side;    ///< columns that all groups process while these are in L2
        bool copies;          ///< rows of a are packed, part after part; otherwise there is one part
        std::int64_t parts;   ///< number of parts packed at once
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
        cut.copies = packs_rows_of_dots(cut.most);
        cut.a_stride = cut.copies ? cut.most + GemmBlocks::line_bytes / size : factors.a.row_stride;
        cut.part_stride = cut.copies ? rows.size() * cut.a_stride : cut.most;
        cut.parts = cut.copies ? GemmBlocks::copied_rows_bytes / size / cut.part_stride : 1;
        return cut;
    }

    /// Loop nest: runs of columns; parts of the depth, because the hardware prefetcher fetches what follows a part; all
    /// groups of rows. As much of the depth is processed at once as the packed rows of a have scratch for.
    template <typename Element>
    void run_dots() const noexcept {
        DotBlocking cut = dot_blocking(sizeof(Element));
        const std::int64_t deep = cut.parts * cut.most;
        for (std::int64_t begin = 0; begin == 0 || begin < factors.depth; begin += deep) {
            const IndexRange whole{begin, std::min(begin + deep, factors.depth)};
            cut.a = cut.copies ? a_scratch : reinterpret_cast<const T*>(factors.a.at(rows.begin, begin));
            for (std::int64_t k = begin; cut.copies && k < whole.end; k += cut.most) {
                const std::int64_t depth = std::min(cut.most, whole.end - k);
                pack_block(a_scratch + (k - begin) / cut.most * cut.part_stride, cut.a_stride, factors.a, rows.begin, k,
                           rows.size(), depth, depth);
            }
            for (std::int64_t column = columns.begin; column < columns.end; column += cut.side)
                for (std::int64_t k = begin; k == begin || k < whole.end; k += cut.most)
                    run_dot_groups<Element>(cut, whole, {k, std::min(k + cut.most, whole.end)},
                                            {column, std::min(column + cut.side, columns.end)});
        }
        if (!stores_dots_directly()) finish(rows, columns);
    }
    /// Each group prefetches a share of the data used next, so that memory is never idle. For the first columns the
    /// first group prefetches the data it uses itself.
    template <typename Element>
    void run_dot_groups(const DotBlocking& cut, IndexRange whole, IndexRange depth, IndexRange across) const noexcept {
        const StridedMatrix& b = factors.b;
        const bool is_first = depth.begin == 0 && across.begin == columns.begin;
        const std::int64_t behind = distance_to_next_dots(whole, depth, across), shares = is_first         ? 1
                                                                                          : cut.groups < 4 ? 2
                                                                                                           : 4;
        const T* const a = cut.a + (depth.begin - whole.begin) / cut.most * cut.part_stride;
        for (std::int64_t group = 0; group < cut.groups; ++group) {
            const IndexRange part = rows.part(group, cut.groups);
            const std::int64_t near = group == 0 && (is_first || cut.groups == 1) ? across.size() : 0;
            compute_dots(
                DotSource<T, Element>{a + (part.begin - rows.begin) * cut.a_stride, cut.a_stride,
                                      reinterpret_cast<const Element*>(b.at(depth.begin, across.begin)),
                                      b.column_stride, 0, depth.size(),
                                      stores_dots_directly() ? factors.c_row_stride : sum_stride(), depth.begin > 0},
                static_cast<int>(part.size()), across.size(),
                {near, near > 0 && cut.groups > 1 ? 0 : behind, is_first ? group - 1 : group, shares},
                stores_dots_directly() ? reinterpret_cast<T*>(factors.out(part.begin, across.begin))
                                       : sums(part.begin, across.begin));
        }
    }
    /// Distance to the data used after a part of some columns, in elements of b; 0 after the last.
    std::int64_t distance_to_next_dots(IndexRange whole, IndexRange depth, IndexRange across) const {
        const std::int64_t stride = factors.b.column_stride;
        if (depth.end < whole.end) return depth.size();
        if (across.end < columns.end) return across.size() * stride - (depth.begin - whole.begin);
        return whole.end < factors.depth ? depth.size() - (across.begin - columns.begin) * stride : 0;
    }

    void run() const noexcept {
        if constexpr (std::is_floating_point_v<T>) {
            if (uses_dot_products()) {
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
    for (std::int64_t number = tasks.first(); tasks.has(number); number = tasks.next(number)) {
        const OutputBlock task = tasks.at(number);
        GemmTask<T>{task.factors,
                    task.rows,
                    task.columns,
                    at(0),
                    at(GemmBlocks::a_bytes),
                    at(GemmBlocks::a_bytes + GemmBlocks::b_bytes)}
            .run();
    }
}

template <typename T>
void multiply_matrices(const Args& args, Team& team) noexcept {
    const DType dtype = static_cast<const GemmPlan*>(args.prepared)->dtype;
    run_tasks(GemmTasks<T>(args.inputs[0], args.inputs[1], args.outputs[0], dtype, team), args.workspace, team);
}

}  // namespace CAIRN_LEVEL
