#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// What axis_rows.cpp tells the run functions of softmax and the normalisations.
namespace cairn::kernels::cpu {

struct AxisPlan {
    int first, last;  ///< the axes worked along: one, or neighbours that lie behind one another in memory
    bool is_row;      ///< elements along them are contiguous; else those of the last axis are
    float eps;
    bool has_gamma, has_beta;
    DType dtype;  ///< of all operands
};

/// Where vectors lie across the axis, so many rows of a column are looked at together; so many columns stay in the
/// cache while they are worked on, at most so many rows of them; or so many go by, piece by piece. A piece of so many
/// columns is brought to a buffer.
inline constexpr std::int64_t piece_rows = 32, cached_columns = 64, max_cached_rows = 1024, streamed_columns = 512,
                              buffered_columns = 128;

/// Of the workspace, for each member, in bytes: a row of f32 of columns in the cache, and all of others.
inline constexpr std::int64_t buffered_row = (cached_columns + 16) * 4,
                              room_for_columns = piece_rows * (buffered_columns + 16) * 4;

/// Bytes of the f32 copy of a row of f16 or bf16, and the number of such copies that a team member holds for a norm: x,
/// and gamma and beta if they are given.
inline constexpr std::int64_t row_bytes(std::int64_t length) { return (length + 15) / 16 * 64; }
inline constexpr int held_rows(const AxisPlan& plan) { return plan.has_beta ? 3 : plan.has_gamma ? 2 : 1; }

}  // namespace cairn::kernels::cpu
