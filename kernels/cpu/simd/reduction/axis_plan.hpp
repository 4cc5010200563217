#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// The plan that softmax_norm_registration.cpp passes to softmax and the normalisations.
namespace cairn::kernels::cpu {

struct AxisPlan {
    int first, last;  ///< the axes reduced along: one, or adjacent axes that are contiguous in memory
    bool is_row;      ///< elements along them are contiguous; otherwise those of the last axis are
    float eps;
    bool has_gamma, has_beta;
    DType dtype;  ///< of all operands
};

/// Blocking of traversals that are vectorised across columns: rows of a column processed together; columns that stay in
/// the cache during all stages, and the maximal rows of those; columns that are streamed piece by piece; columns of a
/// piece that is copied to a buffer.
inline constexpr std::int64_t piece_rows = 32, cached_columns = 64, max_cached_rows = 1024, streamed_columns = 512,
                              buffered_columns = 128;

/// Workspace of each member in bytes: per row of cached columns in f32, and in total for streamed columns.
inline constexpr std::int64_t buffered_row = (cached_columns + 16) * 4,
                              room_for_columns = piece_rows * (buffered_columns + 16) * 4;

/// Bytes of the f32 copy of an f16 or bf16 row, and the number of such copies that a team member holds for a norm: x,
/// and gamma and beta if given.
inline constexpr std::int64_t row_bytes(std::int64_t length) { return (length + 15) / 16 * 64; }
inline constexpr int buffered_rows(const AxisPlan& plan) { return plan.has_beta ? 3 : plan.has_gamma ? 2 : 1; }

}  // namespace cairn::kernels::cpu
