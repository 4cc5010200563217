#pragma once

#include "kernels/cpu/panel/bf16_parts.hpp"

/// The micro-kernel of products in bf16 parts: tiles of up to 32 rows of x times a panel of 32 columns in four tile
/// registers, and the loop over the rows of a block. The next part of a panel is split meanwhile.
namespace CAIRN_LEVEL {

template <typename Stored, int x_parts>
inline constexpr int few_rows<Bf16Parts<Stored, x_parts>> = 0;
template <typename Stored, int x_parts>
inline constexpr int block_height<Bf16Parts<Stored, x_parts>> = 2 * tile_rows;
template <typename Stored, int x_parts>
inline constexpr std::int64_t row_unit<Bf16Parts<Stored, x_parts>> = tile_rows;
// Tile products sum even and odd steps in two chains, which err less than one chain of half as many steps.
template <typename Stored, int x_parts>
inline constexpr std::int64_t chain_steps<Bf16Parts<Stored, x_parts>> = 2 * sum_block;

/// What products in bf16 parts keep besides the product.
template <typename Weight>
struct Bf16Operands {
    Bf16Rows rows;
    PanelSplitter<Weight> splitter;
};

/// Parts i of x and j of the weight.
struct PartPair {
    int i, j;
};
/// The products of parts in the order in which most operands stay in their registers.
template <typename Weight>
constexpr auto part_pairs() {
    constexpr PartPair all[] = {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}};
    constexpr auto is_summed = [](PartPair p) {
        return p.i + p.j < Weight::parts_of_x && p.j < Weight::parts_of_weight;
    };
    constexpr std::size_t count = static_cast<std::size_t>(std::count_if(std::begin(all), std::end(all), is_summed));
    std::array<PartPair, count> pairs{};
    std::copy_if(std::begin(all), std::end(all), pairs.begin(), is_summed);
    return pairs;
}

/// Adds the tile products of 32 steps: tiles of rows of x times the weight at `right`. Calls `between` after each
/// product of parts.
template <typename Weight, int row_tiles, typename F, std::size_t... n>
CAIRN_INLINE void add_tile_products(const Bf16RowTile (&left)[row_tiles], const std::byte* right, F between,
                                    std::index_sequence<n...>) noexcept {
    constexpr auto pairs = part_pairs<Weight>();
    const auto add = [&]<std::size_t at>(std::integral_constant<std::size_t, at>) __attribute__((always_inline)) {
        constexpr PartPair pair = pairs[at];
        constexpr bool is_first = at == 0;
        if constexpr (is_first || pairs[at - !is_first].i != pair.i) {
            Tile<4>::load(left[0].data + pair.i * left[0].part_bytes, 64);
            if constexpr (row_tiles > 1) Tile<5>::load(left[1].data + pair.i * left[1].part_bytes, 64);
        }
        if constexpr (is_first || pairs[at - !is_first].j != pair.j) {
            Tile<6>::load(right + pair.j * 2 * tile_bytes, 64);
            Tile<7>::load(right + (pair.j * 2 + 1) * tile_bytes, 64);
        }
        Tile<0>::template dot_bf16<4, 6>();
        Tile<1>::template dot_bf16<4, 7>();
        if constexpr (row_tiles > 1) {
            Tile<2>::template dot_bf16<5, 6>();
            Tile<3>::template dot_bf16<5, 7>();
        }
        between();
    };
    (add(std::integral_constant<std::size_t, n>()), ...);
}

/// Adds the scaled sums of `height` rows in the tile registers to those at `to`, or stores them. `special` becomes NaN
/// if any is not finite.
template <int row_tiles>
CAIRN_INLINE void join_chain(const float* scales, int height, bool adds, float* to, F32& special) noexcept {
    alignas(64) float sums[2][2][tile_rows][lanes];
    Tile<0>::store(sums[0][0], 64);
    Tile<1>::store(sums[0][1], 64);
    if constexpr (row_tiles > 1) {
        Tile<2>::store(sums[1][0], 64);
        Tile<3>::store(sums[1][1], 64);
    }
    for (int tile = 0; tile < row_tiles; ++tile)
        for (int row = 0; row < tile_rows && tile * tile_rows + row < height; ++row, to += panel_width) {
            const F32 scale = splat(scales[tile * tile_rows + row]);
            for (int half = 0; half < 2; ++half) {
                F32 sum = adds ? load(to + half * lanes) : F32{};
                multiply_add(sum, load(sums[tile][half][row]), scale);
                special += sum - sum;
                store(to + half * lanes, sum);
            }
        }
}

/// One part of a panel as tiles read it.
template <typename Weight>
struct Bf16PanelPart {
    const std::byte* tiles;
    std::int64_t first, depth;
    std::int64_t pairs_per_step;  ///< of rows of the next part, split at each 32 steps
};

/// Computes the sums over one part of `height` rows, in `row_tiles` tiles, into `sums`; true if all are finite.
template <typename Weight, int row_tiles>
__attribute__((noinline)) bool compute_bf16_tile(const Bf16PanelPart<Weight>& part, const Bf16Rows& rows,
                                                 std::int64_t row, int height, PanelSplitter<Weight>& splitter,
                                                 float* sums) noexcept {
    // The error of a long chain is below that of a part that is left out.
    constexpr std::int64_t chain =
        Weight::parts_of_x == 3 ? chain_steps<Weight> / tile_steps : std::numeric_limits<std::int32_t>::max();
    Bf16RowTile left[row_tiles];
    for (int tile = 0; tile < row_tiles; ++tile)
        left[tile] = rows.at<Weight::parts_of_x>(row + tile * tile_rows, part.first);
    const std::byte* right = part.tiles;
    const std::int64_t steps = tiles_of(part.depth);
    SplitCursor<Weight> cursor = splitter.cursor;
    F32 special{};
    std::int64_t step = 0;
    do {
        Tile<0>::zero();
        Tile<1>::zero();
        if constexpr (row_tiles > 1) {
            Tile<2>::zero();
            Tile<3>::zero();
        }
        const std::int64_t first = step, end = std::min(step + chain, steps);
        for (; step < end; ++step) {
            std::int64_t pairs = std::min(part.pairs_per_step, cursor.left);
            const auto split_pair = [&]() __attribute__((always_inline)) {
                if (pairs > 0) cursor.split_pair(), --pairs;
            };
            add_tile_products<Weight, row_tiles>(left, right, split_pair,
                                                 std::make_index_sequence<part_pairs<Weight>().size()>());
            for (; pairs > 0; --pairs) cursor.split_pair();
            for (Bf16RowTile& tile : left) tile.data += Weight::parts_of_x * tile.part_bytes;
            right += PanelSplitter<Weight>::bytes_of_steps;
        }
        join_chain<row_tiles>(rows.scales + row, height, first > 0, sums, special);
    } while (step < steps);
    splitter.cursor = cursor;
    return !is_any_true(is_not_finite(special));
}

/// The elements of a part of a panel; codes are widened to the member's memory.
template <typename Stored, int x_parts>
const Stored* elements_of(const PanelProduct<Bf16Parts<Stored, x_parts>>&,
                          const PanelPart<Bf16Parts<Stored, x_parts>>& part) noexcept {
    return reinterpret_cast<const Stored*>(part.panel);
}
template <int layout, int x_parts>
const float* elements_of(const PanelProduct<Bf16Parts<Code<layout>, x_parts>>& product,
                         const PanelPart<Bf16Parts<Code<layout>, x_parts>>& part) noexcept {
    widen_codes(reinterpret_cast<const Code<layout>*>(part.panel), part.depth, product.widened);
    return product.widened;
}

/// Sums rows over a part as the tiles of floats do.
template <typename Stored>
void sum_rows_in_floats(const Stored* elements, const float* x, std::int64_t x_stride, std::int64_t depth, int height,
                        float* sums) noexcept {
    for (int group = 0; group < panel_vectors; group += group_vectors)
        group_tiles<Stored>[static_cast<std::size_t>(height - 1)](
            {x, x_stride, elements + group * lanes, depth, elements, 0}, sums + group * lanes);
}

/// Computes again, in floats, the rows of a tile whose sums are not finite, or all.
template <typename Weight>
void repair_rows(const PanelProduct<Weight>& product, const PanelPart<Weight>& part, std::int64_t row, int height,
                 bool all, float* sums) noexcept {
    const auto is_wrong = [&](int i) {
        I32 special{};
        for (int v = 0; v < panel_vectors; ++v) special |= is_not_finite(load(sums + i * panel_width + v * lanes));
        return all || is_any_true(special);
    };
    const auto* const elements = elements_of(product, part);
    const float* const x = product.x + row * product.x_stride + part.first;
    for (int i = 0; i < height;) {
        int end = i;
        while (end < height && end - i < tile_height && is_wrong(end)) ++end;
        if (end > i)
            sum_rows_in_floats(elements, x + i * product.x_stride, product.x_stride, part.depth, end - i,
                               sums + i * panel_width);
        i = std::max(end, i + 1);
    }
}

/// All rows of a block over one part, in tiles of 32 rows; see the general form in product.hpp.
template <typename Stored, int x_parts, typename F, typename B, typename E>
void run_part(const PanelProduct<Bf16Parts<Stored, x_parts>>& product, UniformRows block,
              const PanelPart<Bf16Parts<Stored, x_parts>>& part, F sums_of, B before_tile, E behind_tile) noexcept {
    using Weight = Bf16Parts<Stored, x_parts>;
    Bf16Operands<Weight>& operands = *product.converted;
    PanelSplitter<Weight>& splitter = operands.splitter;
    constexpr std::int64_t row_bytes = panel_row<Weight> * std::int64_t{sizeof(Weight)};
    const std::byte* const tiles = splitter.take(
        part.panel, part.depth, part.next, part.next_depth,
        reinterpret_cast<const std::byte*>(part.next) + product.depth * row_bytes, part.next_depth * row_bytes);
    const bool has_tiny_elements = splitter.has_tiny_elements();
    const std::int64_t count = (block.count + 2 * tile_rows - 1) / (2 * tile_rows);
    const std::int64_t steps = count * std::max<std::int64_t>(tiles_of(part.depth), 1);
    const Bf16PanelPart<Weight> read{tiles, part.first, part.depth, (splitter.cursor.left + steps - 1) / steps};
    alignas(64) float own[2 * tile_rows * panel_width];
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = first_of_share(i, count, block.count, tile_rows);
        const int height = static_cast<int>(first_of_share(i + 1, count, block.count, tile_rows) - row);
        before_tile(row, height);
        const bool adds = part.first > 0;
        float* const sums = adds ? own : sums_of(row);
        const auto compute = height > tile_rows ? compute_bf16_tile<Weight, 2> : compute_bf16_tile<Weight, 1>;
        const bool is_finite = compute(read, operands.rows, block.stride + row, height, splitter, sums);
        if (!is_finite || has_tiny_elements)
            repair_rows(product, part, block.stride + row, height, has_tiny_elements, sums);
        if (adds)
            for (int at = 0; at < height * panel_width; at += lanes)
                store(sums_of(row) + at, load(sums_of(row) + at) + load(own + at));
        behind_tile(row, height);
    }
}

}  // namespace CAIRN_LEVEL
