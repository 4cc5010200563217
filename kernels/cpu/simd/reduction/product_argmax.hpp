#pragma once

#include "kernels/cpu/simd/axis_offsets.hpp"
#include "kernels/cpu/simd/elementwise/tile_epilogue.hpp"
#include "kernels/cpu/simd/reduction/reducers.hpp"

#include <algorithm>

/// Argmax over each row of a product: tiles of the product are scanned while they are in L1 and are not stored.
namespace CAIRN_LEVEL {

/// The partial result of one team member: for each row and lane, the largest element so far and its vector. Which tiles
/// a member scans is not deterministic; the overall maximum, and the first of equal ones, is.
class ProductArgMax {
public:
    /// Bytes of one row in a member's memory.
    static constexpr std::int64_t row_bytes = 8 * lanes;

    /// `bias`: one element per column, or null; `memory`: row_bytes for each row of each member.
    ProductArgMax(std::int64_t rows, const float* bias, std::byte* memory, int member) noexcept
        : rows_(rows), bias_(bias), memory_(memory), member_(member) {
        std::fill_n(best(member), rows * lanes, lowest_value<float>());
        std::fill_n(index(member), rows * lanes, 0);
    }

    /// Scans a tile. Columns of a row must arrive in ascending order. Rows of `sums` may be read up to a whole vector.
    void accumulate(const OutputTile& part, const float* sums) noexcept {
        for (std::int64_t i = 0; i < part.height; ++i, sums += part.pitch) {
            float* const best_at = best(member_) + (part.row + i) * lanes;
            std::int32_t* const index_at = index(member_) + (part.row + i) * lanes;
            F32 best = load(best_at);
            I32 index = load(index_at);
            for (std::int64_t j = 0; j < part.width; j += lanes) {
                const std::int64_t column = part.column + j, count = std::min<std::int64_t>(lanes, part.width - j);
                F32 x = load(sums + j);
                if (bias_ != nullptr) x = x + vec_load_part(bias_ + column, count, 0.0f);
                if (count < lanes) x = first_lanes(count) != 0 ? x : splat(lowest_value<float>());
                ArgMax<float>::update_max(best, index, x, splat(static_cast<std::int32_t>(column)));
            }
            store(best_at, best);
            store(index_at, index);
        }
    }

    /// Writes the indices of this member's share of the rows, after all `members` have scanned their tiles.
    void write(const TensorArg& out, int members) const noexcept {
        auto* const to = reinterpret_cast<std::int32_t*>(out.data);
        for (std::int64_t row = member_; row < rows_; row += members)
            to[offset_of(out, 0, out.rank, row)] = largest_in(row, members);
    }

private:
    std::int32_t largest_in(std::int64_t row, int members) const noexcept {
        ArgMax<float>::Result found{lowest_value<float>(), 0};
        for (int member = 0; member < members; ++member)
            for (int lane = 0; lane < lanes; ++lane) {
                const std::int64_t at = row * lanes + lane;
                found = ArgMax<float>::combine(found, {best(member)[at], index(member)[at] + lane});
            }
        return found.index;
    }
    float* best(int member) const noexcept { return reinterpret_cast<float*>(memory_ + member * rows_ * row_bytes); }
    std::int32_t* index(int member) const noexcept {
        return reinterpret_cast<std::int32_t*>(best(member) + rows_ * lanes);
    }

    std::int64_t rows_;
    const float* bias_;
    std::byte* memory_;
    int member_;
};

}  // namespace CAIRN_LEVEL
