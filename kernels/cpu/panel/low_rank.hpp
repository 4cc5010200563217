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

/// The second product, of the rows of x @ a and b.
class LowRank {
public:
    LowRank() = default;
    /// `panel`: memory of this member for `rank` rows of a panel of b, which many rows of x read again; null: few do.
    LowRank(const float* narrow, std::int64_t rank, const TensorArg& b, float* panel) noexcept
        : narrow_(narrow),
          b_(reinterpret_cast<const float*>(b.data)),
          panel_(panel),
          rank_(rank),
          b_stride_(b.strides[0]) {}

    /// Adds the rows of a tile to its sums, in rows of 32.
    void add_to(float* sums, const OutputTile& tile) noexcept {
        constexpr std::int64_t most = 4;
        if (panel_ != nullptr && packed_column_ != tile.column) pack(tile);
        const float* const b = panel_ != nullptr ? panel_ : b_ + tile.column;
        const std::int64_t stride = panel_ != nullptr ? panel_width : b_stride_;
        const std::int64_t width = panel_ != nullptr ? panel_width : tile.width;
        for (std::int64_t row = 0; row < tile.height; row += most) {
            const float* const left = narrow_ + (tile.row + row) * rank_;
            float* const to = sums + row * panel_width;
            switch (std::min(tile.height - row, most)) {
                case 1: add_rows<1>(left, b, stride, width, to); break;
                case 2: add_rows<2>(left, b, stride, width, to); break;
                case 3: add_rows<3>(left, b, stride, width, to); break;
                default: add_rows<most>(left, b, stride, width, to);
            }
        }
    }

private:
    /// Packs the columns of b for a tile: at their own stride, the rows may conflict in one cache set.
    void pack(const OutputTile& tile) noexcept {
        for (std::int64_t r = 0; r < rank_; ++r) {
            float* const end = std::copy_n(b_ + r * b_stride_ + tile.column, tile.width, panel_ + r * panel_width);
            std::fill_n(end, panel_width - tile.width, 0.0f);
        }
        packed_column_ = tile.column;
    }

    template <int height>
    void add_rows(const float* left, const float* b, std::int64_t stride, std::int64_t width,
                  float* sums) const noexcept {
        std::int64_t column = 0;
        for (; column + 2 * lanes <= width; column += 2 * lanes)
            add_columns<height, 2>(left, b, stride, lanes, column, sums);
        for (; column < width; column += lanes)
            add_columns<height, 1>(left, b, stride, std::min<std::int64_t>(width - column, lanes), column, sums);
    }

    // `count`: columns of the last vector.
    template <int height, int vectors>
    void add_columns(const float* left, const float* b, std::int64_t stride, std::int64_t count, std::int64_t column,
                     float* sums) const noexcept {
        F32 sum[height][vectors];
#pragma GCC unroll 4
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j) sum[i][j] = load(sums + i * panel_width + column + j * lanes);
        const float* right = b + column;
        for (std::int64_t r = 0; r < rank_; ++r, right += stride) {
            F32 row[vectors];
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j)
                row[j] =
                    j + 1 < vectors || count == lanes ? load(right + j * lanes) : load_part(right + j * lanes, count);
#pragma GCC unroll 4
            for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
                for (int j = 0; j < vectors; ++j) multiply_add(sum[i][j], splat(left[i * rank_ + r]), row[j]);
        }
#pragma GCC unroll 4
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j) store(sums + i * panel_width + column + j * lanes, sum[i][j]);
    }

    const float *narrow_ = nullptr, *b_ = nullptr;
    float* panel_ = nullptr;
    std::int64_t rank_ = 0, b_stride_ = 0, packed_column_ = -1;
};

/// Rows of x times some columns of a, for the narrow product.
struct NarrowProduct {
    const float* x;
    std::int64_t x_stride, depth;
    const float* a;
    std::int64_t a_stride, count;  ///< of columns or rows of a; columns
    float scale;
    float* to;
    std::int64_t to_stride;
};

/// By dot products: the columns of a are contiguous, `a_stride` apart.
template <int height>
void narrow_by_columns(const NarrowProduct& p) noexcept {
    constexpr int at_once = 4;
    for (std::int64_t r = 0; r < p.count; r += at_once) {
        const auto count = static_cast<int>(std::min<std::int64_t>(p.count - r, at_once));
        F32 sum[height][at_once]{};
        const float* column[at_once];
        for (int j = 0; j < at_once; ++j) column[j] = p.a + (r + std::min(j, count - 1)) * p.a_stride;
        std::int64_t k = 0;
        for (; k + lanes <= p.depth; k += lanes) {
            F32 right[at_once];
#pragma GCC unroll 4
            for (int j = 0; j < at_once; ++j) right[j] = load(column[j] + k);
#pragma GCC unroll 4
            for (int i = 0; i < height; ++i) {
                const F32 left = load(p.x + i * p.x_stride + k);
#pragma GCC unroll 4
                for (int j = 0; j < at_once; ++j) multiply_add(sum[i][j], left, right[j]);
            }
        }
        for (int i = 0; i < height; ++i)
            for (int j = 0; j < count; ++j) {
                float total = 0;
                for (int lane = 0; lane < lanes; ++lane) total += sum[i][j][lane];
                for (std::int64_t rest = k; rest < p.depth; ++rest)
                    total += p.x[i * p.x_stride + rest] * column[j][rest];
                p.to[i * p.to_stride + r + j] = p.scale * total;
            }
    }
}

/// The same where the rows of a are contiguous, `a_stride` apart.
template <int height>
void narrow_by_rows(const NarrowProduct& p) noexcept {
    for (std::int64_t r = 0; r < p.count; r += lanes) {
        const std::int64_t count = std::min<std::int64_t>(p.count - r, lanes);
        F32 sum[height]{};
        for (std::int64_t k = 0; k < p.depth; ++k) {
            const float* const from = p.a + k * p.a_stride + r;
            const F32 row = count == lanes ? load(from) : load_part(from, count);
#pragma GCC unroll 4
            for (int i = 0; i < height; ++i) multiply_add(sum[i], splat(p.x[i * p.x_stride + k]), row);
        }
        for (int i = 0; i < height; ++i)
            for (std::int64_t j = 0; j < count; ++j) p.to[i * p.to_stride + r + j] = p.scale * sum[i][j];
    }
}

/// Computes the narrow product in `memory`, a share of its elements by each member, followed by a barrier. In `memory`
/// it is followed by a panel of b for each member.
inline LowRank low_rank_of(const Args& args, const PanelPlan& plan, float* memory, Team& team) {
    constexpr int height = lanes == 16 ? 4 : 2;
    const TensorArg &x = args.inputs[0], &a = args.inputs[2], &b = args.inputs[3];
    const UniformRows rows = rows_of(x);
    const std::int64_t rank = plan.low_rank;
    const bool by_columns = a.shape[0] <= 1 || a.strides[0] == 1;
    const std::int64_t column_stride = a.strides[1];
    // Of few rows each is divided as well, into parts of the rank.
    const std::int64_t parts = rows.count < height * team.size() ? std::min<std::int64_t>(team.size(), rank) : 1;
    const std::int64_t blocks = (rows.count + height - 1) / height;
    for (std::int64_t share = team.rank(); share < blocks * parts; share += team.size()) {
        const std::int64_t row = share / parts * height, part = share % parts, first = rank * part / parts;
        NarrowProduct product{reinterpret_cast<const float*>(x.data) + row * rows.stride,
                              rows.stride,
                              x.shape[x.rank - 1],
                              reinterpret_cast<const float*>(a.data) + first * column_stride,
                              by_columns ? column_stride : a.strides[0],
                              rank * (part + 1) / parts - first,
                              plan.low_rank_scale,
                              memory + row * rank + first,
                              rank};
        const std::int64_t count = std::min<std::int64_t>(rows.count - row, height);
        if (count == height) {
            by_columns ? narrow_by_columns<height>(product) : narrow_by_rows<height>(product);
            continue;
        }
        for (std::int64_t i = 0; i < count; ++i, product.x += rows.stride, product.to += rank)
            by_columns ? narrow_by_columns<1>(product) : narrow_by_rows<1>(product);
    }
    team.barrier();
    float* const panel = memory + rows.count * rank + team.rank() * rank * panel_width;
    return {memory, rank, b, rows.count > PanelPlan::few_rows_of_low_rank ? panel : nullptr};
}

}  // namespace CAIRN_LEVEL
