#pragma once

#include "cairn/args.hpp"
#include "kernels/cpu/matmul_operands.hpp"
#include "kernels/cpu/panel/linear_plan.hpp"
#include "kernels/cpu/simd/elementwise/tile_epilogue.hpp"
#include "kernels/cpu/simd/vector/half.hpp"

#include <algorithm>

/// What an adapter adds to a packed product, x @ w + scale (x @ a) @ b: the rank is a further stretch of the depth. The
/// narrow product x @ a is computed first, and its rows times b are added to each tile of sums while it is in L1.
namespace CAIRN_LEVEL {

struct LowRank {
    const float* narrow = nullptr;  ///< scale (x @ a), `rank` elements for each row of x
    const float* b = nullptr;
    std::int64_t rank = 0, b_stride = 0;

    /// Adds the rows of a tile to its sums, in rows of 32.
    void add_to(float* sums, const OutputTile& tile) const noexcept {
        constexpr int most = 4;
        for (std::int64_t row = 0; row < tile.height; row += most) {
            const float* const left = narrow + (tile.row + row) * rank;
            float* const to = sums + row * panel_width;
            switch (std::min<std::int64_t>(tile.height - row, most)) {
                case 1: add_rows<1>(left, to, tile); break;
                case 2: add_rows<2>(left, to, tile); break;
                case 3: add_rows<3>(left, to, tile); break;
                default: add_rows<most>(left, to, tile);
            }
        }
    }

private:
    template <int height>
    void add_rows(const float* left, float* sums, const OutputTile& tile) const noexcept {
        for (std::int64_t column = 0; column < tile.width; column += lanes) {
            const std::int64_t count = std::min<std::int64_t>(tile.width - column, lanes);
            const float* right = b + tile.column + column;
            F32 sum[height];
#pragma GCC unroll 4
            for (int i = 0; i < height; ++i) sum[i] = load(sums + i * panel_width + column);
            for (std::int64_t r = 0; r < rank; ++r, right += b_stride) {
                const F32 row = count == lanes ? load(right) : load_part(right, count);
#pragma GCC unroll 4
                for (int i = 0; i < height; ++i) multiply_add(sum[i], splat(left[i * rank + r]), row);
            }
#pragma GCC unroll 4
            for (int i = 0; i < height; ++i) store(sums + i * panel_width + column, sum[i]);
        }
    }
};

/// One row of x times a, by dot products: the columns of a are contiguous, `stride` apart.
inline void narrow_by_columns(const float* x, std::int64_t depth, const float* a, std::int64_t stride,
                              std::int64_t rank, float scale, float* to) noexcept {
    constexpr int at_once = 4;
    for (std::int64_t r = 0; r < rank; r += at_once) {
        const auto count = static_cast<int>(std::min<std::int64_t>(rank - r, at_once));
        F32 sum[at_once]{};
        const float* column[at_once];
        for (int i = 0; i < at_once; ++i) column[i] = a + (r + std::min(i, count - 1)) * stride;
        std::int64_t k = 0;
        for (; k + lanes <= depth; k += lanes)
#pragma GCC unroll 4
            for (int i = 0; i < at_once; ++i) multiply_add(sum[i], load(x + k), load(column[i] + k));
        for (int i = 0; i < count; ++i) {
            float total = 0;
            for (int lane = 0; lane < lanes; ++lane) total += sum[i][lane];
            for (std::int64_t rest = k; rest < depth; ++rest) total += x[rest] * column[i][rest];
            to[r + i] = scale * total;
        }
    }
}

/// The same where the rows of a are contiguous.
inline void narrow_by_rows(const float* x, std::int64_t depth, const float* a, std::int64_t stride, std::int64_t rank,
                           float scale, float* to) noexcept {
    for (std::int64_t r = 0; r < rank; r += lanes) {
        const std::int64_t count = std::min<std::int64_t>(rank - r, lanes);
        F32 sum{};
        for (std::int64_t k = 0; k < depth; ++k) {
            const float* const row = a + k * stride + r;
            multiply_add(sum, splat(x[k]), count == lanes ? load(row) : load_part(row, count));
        }
        for (std::int64_t i = 0; i < count; ++i) to[r + i] = scale * sum[i];
    }
}

/// Computes the narrow product in `memory`, a share of its elements by each member, and waits for all.
inline LowRank low_rank_of(const Args& args, const PanelPlan& plan, float* memory, Team& team) {
    const TensorArg &x = args.inputs[0], &a = args.inputs[2], &b = args.inputs[3];
    const UniformRows rows = rows_of(x);
    const std::int64_t depth = x.shape[x.rank - 1], rank = plan.low_rank;
    const bool by_columns = depth <= 1 || a.strides[0] == 1;
    const auto* const elements = reinterpret_cast<const float*>(x.data);
    const auto* const right = reinterpret_cast<const float*>(a.data);
    // Of few rows each is divided as well, into parts of the rank.
    const std::int64_t parts = rows.count < 2 * team.size() ? std::min<std::int64_t>(team.size(), rank) : 1;
    for (std::int64_t share = team.rank(); share < rows.count * parts; share += team.size()) {
        const std::int64_t row = share / parts, part = share % parts;
        const std::int64_t first = rank * part / parts, count = rank * (part + 1) / parts - first;
        const float* const from = elements + row * rows.stride;
        float* const to = memory + row * rank + first;
        if (by_columns)
            narrow_by_columns(from, depth, right + first * a.strides[1], a.strides[1], count, plan.low_rank_scale, to);
        else
            narrow_by_rows(from, depth, right + first * a.strides[1], a.strides[0], count, plan.low_rank_scale, to);
    }
    team.barrier();
    return {memory, reinterpret_cast<const float*>(b.data), rank, b.strides[0]};
}

}  // namespace CAIRN_LEVEL
