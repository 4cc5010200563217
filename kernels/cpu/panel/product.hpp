#pragma once

#include "kernels/cpu/panel/linear_plan.hpp"

#include "kernels/cpu/matmul_operands.hpp"
#include "kernels/cpu/panel/guided_schedule.hpp"
#include "kernels/cpu/panel/low_rank.hpp"
#include "kernels/cpu/panel/tile.hpp"
#include "kernels/cpu/simd/elementwise/tile_epilogue.hpp"
#include "kernels/cpu/simd/reduction/product_argmax.hpp"

#include <algorithm>

/// x @ w for a packed w, with an epilogue that runs on each tile while it is in L1, or with an argmax over each row.
/// Work is split into blocks of rows times runs of panels. A part of the depth of a block of x stays in L2 while the
/// same part of the panels streams by; each panel is prefetched while the one before is used. In a gated product each
/// panel of w is followed by the panel of v for the same columns, and the sums of w wait in the cache for those of v. v
/// may be the other half of the columns of one weight, whose halves are whole panels. Panels of codes are widened part
/// by part, once for a block of rows.
namespace CAIRN_LEVEL {

inline constexpr std::int64_t rows_per_block = PanelPlan::rows_per_block;

/// Sums of a block of rows over one panel.
using BlockSums = float[rows_per_block][panel_width];

/// What tiles read in place of the floats of x: integers, unless specialized for the weight type.
template <typename Weight>
struct ConvertedRows {
    using type = const QuantizedGroup;
};

/// Rows that the sums of a tile of a block have room for.
template <typename Weight>
inline constexpr std::int64_t block_rows = std::max(tile_height, block_height<Weight>);

/// The first of `size` elements that share `i` of `count` has, where shares consist of whole units.
constexpr std::int64_t first_of_share(std::int64_t i, std::int64_t count, std::int64_t size, std::int64_t unit) {
    const std::int64_t units = (size + unit - 1) / unit;
    return std::min(units * i / count * unit, size);
}

template <typename Weight>
struct PanelProduct {
    const float* x;
    const Weight *panels, *gated;
    TileEpilogue* body;  // or null, with `largest`
    ProductArgMax* largest;
    std::int64_t rows, depth, columns, x_stride;
    std::int64_t parts;  // of the depth
    std::int64_t ahead;
    BlockSums* sums;  // of this member: partial sums that await further parts
    float* widened;   // of this member: a part of a panel of codes
    typename ConvertedRows<Weight>::type* converted;
    LowRank* low_rank;  // of an adapter, or null

    /// A panel of w, and the corresponding panel of v.
    const Weight* panel(std::int64_t i) const { return panels + i * depth * panel_row<Weight>; }
    const Weight* gated_panel(std::int64_t i) const { return gated + i * depth * panel_row<Weight>; }
    /// Row `row` of x from element k on, as integers.
    const QuantizedGroup* quantized_at(std::int64_t row, std::int64_t k) const {
        return converted == nullptr ? nullptr : converted + row * quantized_stride() + k / 32;
    }
    std::int64_t quantized_stride() const { return depth / 32; }
};

template <typename Weight>
OutputTile part_of(const PanelProduct<Weight>& product, std::int64_t row, int height, std::int64_t panel) noexcept {
    const std::int64_t first = panel * panel_width;
    return {row, height, first, std::min(panel_width, product.columns - first), panel_width};
}

// Computes results of `height` rows of panel `panel` from their sums, stored in rows of 32; `gated`: the sums over v.
template <typename Weight>
void finish(const PanelProduct<Weight>& product, std::int64_t row, int height, std::int64_t panel, float* sums,
            float* gated) noexcept {
    const OutputTile part = part_of(product, row, height, panel);
    if (product.largest != nullptr) return product.largest->accumulate(part, sums);
    if (product.low_rank != nullptr) product.low_rank->add_to(sums, part);
    void* const blocks[] = {sums, gated};
    product.body->run(part, blocks);
}

/// A part of the depth of a panel, and what is read after it.
template <typename Weight>
struct PanelPart {
    const Weight* panel;
    std::int64_t first, depth;
    const Weight* next;
    std::int64_t step;            // elements of `next` for each step of k
    std::int64_t next_depth = 0;  // of `next`, where it is not read as it is
};

/// The part as the tiles of a block read it.
template <typename Weight>
PanelPart<Weight> in_tiles(const PanelProduct<Weight>&, const PanelPart<Weight>& part) noexcept {
    return part;
}

// Few rows over the panel at `from`; `next` is the panel used after it. Prefetches a fixed distance ahead: the last
// rows of a panel prefetch the first rows of the next.
template <typename Weight>
void run_whole_panel(const PanelProduct<Weight>& product, std::int64_t first, int height, const Weight* from,
                     const Weight* next, TileSums& sums) noexcept {
    constexpr std::int64_t row = panel_row<Weight>;
    const bool follows = next == from + product.depth * row;
    const std::int64_t switch_step = follows ? product.depth : std::max<std::int64_t>(product.depth - product.ahead, 0);
    const Weight* const ahead = switch_step > 0 ? from + product.ahead * row : next;
    whole_tiles<Weight>[static_cast<std::size_t>(height - 1)](
        {product.x + first * product.x_stride, product.x_stride, from, product.depth, ahead, row, false, switch_step,
         next, product.quantized_at(first, 0), product.quantized_stride()},
        sums.row[0]);
}

// Few rows: one panel after another or, for very few rows, several panels side by side. Both are bound by memory
// bandwidth. `next_of(panel)`: the panel used after this one.
template <typename Weight, typename Next>
void run_whole(const PanelProduct<Weight>& product, std::int64_t row, int height, std::int64_t begin, std::int64_t end,
               Next next_of) noexcept {
    const int at_once = panels_at_once<Weight>(height);
    const auto run_side = [&](const Weight* from, TileSums* sums) {
        side_tiles<Weight>[static_cast<std::size_t>(height - 1)](
            {product.x + row * product.x_stride, product.x_stride, from, product.depth, from, 0, false, 0, nullptr,
             product.quantized_at(row, 0), product.quantized_stride()},
            sums->row[0]);
    };
    TileSums sums[max_panels_at_once], gated[max_panels_at_once];
    const bool is_gated = product.gated != nullptr;
    for (std::int64_t panel = begin; panel < end;) {
        const int count = at_once > 1 && panel + at_once <= end ? at_once : 1;
        const Weight* const next = next_of(panel + count - 1);
        const Weight *const from = product.panel(panel), *const other = is_gated ? product.gated_panel(panel) : nullptr;
        if (count > 1) {
            run_side(from, sums);
            if (is_gated) run_side(other, gated);
        } else {
            run_whole_panel(product, row, height, from, is_gated ? other : next, sums[0]);
            if (is_gated) run_whole_panel(product, row, height, other, next, gated[0]);
        }
        for (int i = 0; i < count; ++i, ++panel)
            finish(product, row, height, panel, sums[i].row[0], is_gated ? gated[i].row[0] : nullptr);
    }
}

// All rows of a block over one part, in tiles of about equal height. Each tile prefetches an equal share of the data
// used next. `sums_of(row)`: the sums of the tile that begins at this row.
template <typename Weight, typename Element, typename F, typename B, typename E>
CAIRN_INLINE void run_part(const PanelProduct<Weight>& product, UniformRows block, const PanelPart<Element>& part,
                           F sums_of, B before_tile, E behind_tile) noexcept {
    const std::int64_t tiles = (block.count + block_height<Element> - 1) / block_height<Element>;
    const std::int64_t passes = tiles * (panel_vectors / group_vectors), step = (part.step + passes - 1) / passes;
    const float* const x = product.x + block.stride * product.x_stride + part.first;
    const Element* ahead = part.next;
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t row = block.count * tile / tiles;
        const int height = static_cast<int>(block.count * (tile + 1) / tiles - row);
        before_tile(row, height);
        for (int group = 0; group < panel_vectors; group += group_vectors) {
            group_tiles<Element>[static_cast<std::size_t>(height - 1)](
                {x + row * product.x_stride, product.x_stride, part.panel + group * lanes, part.depth, ahead, step,
                 part.first > 0, 0, nullptr, product.quantized_at(block.stride + row, part.first),
                 product.quantized_stride()},
                sums_of(row) + group * lanes);
            ahead += step * part.depth;
        }
        behind_tile(row, height);
    }
}

// A block of rows over a run of panels, one part of the depth after another, so that reused data stays in L2. The sums
// of all panels await the next part; in a gated product those of w await those of v. With their last part, tiles
// prefetch the operands and outputs of the epilogue. `next_of(panel)`: the panel used after this one.
template <typename Weight, typename Next>
void run_block(const PanelProduct<Weight>& product, UniformRows block, std::int64_t begin, std::int64_t end,
               Next next_of) noexcept {
    const std::int64_t parts = product.parts, weights = product.gated != nullptr ? 2 : 1;
    // Parts begin at the beginning of accumulation chains.
    const auto first_of = [&](std::int64_t part) {
        return first_of_share(part, parts, product.depth, chain_steps<Weight>);
    };
    const auto depth_of = [&](std::int64_t part) { return first_of(part + 1) - first_of(part); };
    const auto part_of_panel = [&](std::int64_t part, std::int64_t panel, std::int64_t weight) {
        return (weight == 0 ? product.panel(panel) : product.gated_panel(panel)) + first_of(part) * panel_row<Weight>;
    };
    alignas(64) float tile_sums[block_rows<Weight>][panel_width];
    const auto sums_of = [&](std::int64_t panel, std::int64_t weight, std::int64_t row) {
        if (parts == 1 && weights == 1) return tile_sums[0];
        return product.sums[(parts == 1 ? 0 : panel - begin) * weights + weight][row];
    };
    for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t panel = begin; panel < end; ++panel)
            for (std::int64_t weight = 0; weight < weights; ++weight) {
                const bool is_last = part + 1 == parts && weight + 1 == weights;
                const Weight* const next = weight + 1 < weights ? part_of_panel(part, panel, weight + 1)
                                           : panel + 1 < end    ? part_of_panel(part, panel + 1, 0)
                                           : part + 1 < parts   ? part_of_panel(part + 1, begin, 0)
                                                                : next_of(panel);
                // With one block of rows, the epilogue's operands are still cached from the instruction before.
                const auto prefetch = [&](std::int64_t row, int height) {
                    if (is_last && product.body != nullptr && product.rows > rows_per_block)
                        product.body->prefetch(part_of(product, block.stride + row, height, panel));
                };
                const auto finish_rows = [&](std::int64_t row, int height) {
                    if (!is_last) return;
                    constexpr int most = block_size / panel_width;  // rows of an epilogue's block
                    float* const sums = sums_of(panel, 0, row);
                    float* const gated = weights > 1 ? sums_of(panel, 1, row) : nullptr;
                    for (int i = 0; i < height; i += most)
                        finish(product, block.stride + row + i, std::min(most, height - i), panel,
                               sums + i * panel_width, gated != nullptr ? gated + i * panel_width : nullptr);
                };
                const bool is_end = weight + 1 == weights && panel + 1 == end;
                const std::int64_t next_part = is_end ? (part + 1) % parts : part;
                const PanelPart<Weight> read{part_of_panel(part, panel, weight),
                                             first_of(part),
                                             depth_of(part),
                                             next,
                                             panel_row<Weight>,
                                             depth_of(next_part)};
                run_part(
                    product, block, in_tiles(product, read),
                    [&](std::int64_t row) { return sums_of(panel, weight, row); }, prefetch, finish_rows);
            }
}

/// Inputs of the epilogue after the sums.
inline BodyInputs body_inputs(const Args& args, const PanelPlan& plan) noexcept {
    BodyInputs inputs{};
    const bool by_halves = plan.gate == Gate::first_half || plan.gate == Gate::last_half;
    const int sums = plan.gate == Gate::none ? 1 : 2;
    const int weights = plan.gate == Gate::weight ? 2 : plan.low_rank > 0 ? 3 : 1;
    for (int i = 0; i < plan.body.input_count - sums; ++i) {
        inputs.list[i] = args.inputs[1 + weights + (by_halves ? 0 : i)];
        const bool is_other_half = by_halves && (i == 1) != (plan.gate == Gate::last_half);
        if (is_other_half) {
            const TensorArg& out = args.outputs[0];
            inputs.list[i].data += out.shape[out.rank - 1] * static_cast<std::int64_t>(sizeof(float));
        }
    }
    return inputs;
}

template <typename Weight>
PanelProduct<Weight> product_of(const Args& args, const PanelPlan& plan) noexcept {
    const auto panels = [](const TensorArg& arg) { return reinterpret_cast<const Weight*>(arg.data); };
    const TensorArg &x = args.inputs[0], &weight = args.inputs[1];
    const UniformRows x_rows = rows_of(x);
    PanelProduct<Weight> product{};
    product.x = reinterpret_cast<const float*>(x.data);
    product.panels = panels(args.inputs[1]);
    product.rows = x_rows.count;
    product.depth = x.shape[x.rank - 1];
    product.parts = std::max<std::int64_t>((product.depth + plan.depth - 1) / plan.depth, 1);
    product.ahead = plan.ahead;
    product.columns = weight.shape[weight.rank - 1];
    product.x_stride = x_rows.stride;
    if (plan.gate == Gate::weight) product.gated = panels(args.inputs[2]);
    if (plan.gate == Gate::first_half || plan.gate == Gate::last_half) {
        product.columns /= 2;
        product.gated = product.panel(panel_count(product.columns));
    }
    if (plan.gate == Gate::last_half) std::swap(product.panels, product.gated);
    return product;
}

/// Copies rows of x with a padded stride. Rows of a tile a multiple of 4 KiB apart map to one set of an L1 cache with 8
/// or 12 ways; with more than twelve such rows, the conflict misses cost more than a copy with one extra cache line per
/// row. Returns the memory after the copy.
template <typename Weight>
std::byte* copy_rows_apart(PanelProduct<Weight>& product, const PanelPlan& plan, std::byte* memory, Team& team) {
    constexpr std::int64_t max_remainder = 12;
    if (!plan.pads_rows) return memory;
    const std::int64_t stride = PanelPlan::padded_stride(product.depth);
    auto* const copy = reinterpret_cast<float*>(memory);
    if (product.rows > max_remainder) {
        const std::int64_t first = product.rows * team.rank() / team.size();
        const std::int64_t last = product.rows * (team.rank() + 1) / team.size();
        for (std::int64_t row = first; row < last; ++row)
            std::copy_n(product.x + row * product.x_stride, product.depth, copy + row * stride);
        team.barrier();
        product.x = copy;
        product.x_stride = stride;
    }
    return reinterpret_cast<std::byte*>(copy + product.rows * stride);
}

/// Assigns the workspace to the product, and returns the remaining memory.
template <typename Weight>
std::byte* assign_workspace(PanelProduct<Weight>& product, const PanelPlan& plan, std::byte* workspace, Team& team) {
    const std::int64_t pending_bytes = plan.pending_sums * static_cast<std::int64_t>(sizeof(BlockSums));
    product.sums = reinterpret_cast<BlockSums*>(workspace + pending_bytes * team.rank());
    workspace += pending_bytes * team.size();
    product.widened = reinterpret_cast<float*>(workspace + plan.widened_bytes * team.rank());
    return copy_rows_apart(product, plan, workspace + plan.widened_bytes * team.size(), team);
}

// Computes all panels that this member claims.
template <typename Weight>
void run_panels(const PanelProduct<Weight>& product, Team& team) {
    if (product.rows == 0) return;
    const std::int64_t blocks = (product.rows + rows_per_block - 1) / rows_per_block;
    // Rows in tiles of several parts of the depth are larger than L2, and each run reads them again from a slower
    // cache.
    const bool are_runs_long = row_unit<Weight> != 1 && product.parts > 1;
    int at_once = are_runs_long ? 4 : 1;
    if (product.rows <= few_rows<Weight>) at_once = panels_at_once<Weight>(static_cast<int>(product.rows));
    GuidedPanelSchedule runs(blocks, panel_count(product.columns), at_once, team.size(), are_runs_long ? 1 : 2);
    for (PanelRange run = runs.at(team.next_chunk()); run.begin < run.end;) {
        const auto first_of = [&](std::int64_t block) {
            return first_of_share(block, blocks, product.rows, row_unit<Weight>);
        };
        const std::int64_t first = first_of(run.block), last = first_of(run.block + 1);
        // The next run is claimed before the last panel of this one, so that its first panel can be prefetched.
        PanelRange following{};
        const auto next_of = [&](std::int64_t panel) {
            if (panel + 1 < run.end) return product.panel(panel + 1);
            following = runs.at(team.next_chunk());
            return product.panel(following.begin < following.end ? following.begin : panel);
        };
        if (last - first > few_rows<Weight>)
            run_block(product, {last - first, first}, run.begin, run.end, next_of);
        else if constexpr (few_rows<Weight> != 0)
            run_whole(product, first, static_cast<int>(last - first), run.begin, run.end, next_of);
        run = following;
    }
}

template <typename Weight>
void run_product(const Args& args, const PanelPlan& plan, typename ConvertedRows<Weight>::type* converted, Team& team) {
    const BodyInputs inputs = body_inputs(args, plan);
    PanelProduct<Weight> product = product_of<Weight>(args, plan);
    product.converted = converted;
    std::byte* const workspace = assign_workspace(product, plan, args.workspace, team);
    TileEpilogue body(plan.body, plan.gate == Gate::none ? 1 : 2, inputs.list, args.outputs,
                      workspace + plan.body.bytes_per_member() * team.rank());
    const int leading = args.inputs[0].rank - 1;
    for (int i = 0; plan.by_columns && i < plan.body.output_count; ++i)
        body.holds(i, plan.first_column[i], args.outputs[i].rank - leading);
    product.body = &body;
    LowRank low_rank;
    if (plan.low_rank > 0) {
        std::byte* const behind = workspace + plan.body.bytes_per_member() * team.size();
        low_rank = low_rank_of(args, plan, reinterpret_cast<float*>(behind), team);
        product.low_rank = &low_rank;
    }
    run_panels(product, team);
}

template <typename Weight>
void find_argmax(const Args& args, const PanelPlan& plan, typename ConvertedRows<Weight>::type* converted, Team& team) {
    PanelProduct<Weight> product = product_of<Weight>(args, plan);
    product.converted = converted;
    std::byte* const workspace = assign_workspace(product, plan, args.workspace, team);
    ProductArgMax largest(product.rows, plan.is_biased ? reinterpret_cast<const float*>(args.inputs[2].data) : nullptr,
                          workspace, team.rank());
    product.largest = &largest;
    run_panels(product, team);
    team.barrier();
    largest.write(args.outputs[0], team.size());
}

/// Runs a plan with panels of codes (code_linear.cpp).
void panel_code_linear(const Args& args, Team& team);

/// Runs a plan with panels of `Weight`. `converted`: the rows of x, for tiles that do not read floats.
template <typename Weight>
void run_panel_plan(const Args& args, Team& team, typename ConvertedRows<Weight>::type* converted = nullptr) {
    const PanelPlan& plan = *static_cast<const PanelPlan*>(args.prepared);
    plan.is_argmax ? find_argmax<Weight>(args, plan, converted, team)
                   : run_product<Weight>(args, plan, converted, team);
}

}  // namespace CAIRN_LEVEL
