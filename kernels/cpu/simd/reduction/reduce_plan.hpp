#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// What reduce_rows.cpp tells reduce.cpp.
namespace cairn::kernels::cpu {

enum class ReduceKind : std::uint8_t { sum, mean, max, argmax };

inline constexpr int max_reduce_rank = 8;

struct ReducePlan {
    ReduceKind fold;
    DType input, output;
    double value_of_empty;             ///< what folding no elements comes to
    bool is_reduced[max_reduce_rank];  ///< of each axis of the input
};

/// Rows so long and few are cut into pieces of so many elements, whose results wait in the workspace, 16 bytes each.
inline constexpr std::int64_t piece_size = 8192, least_cut = 2 * piece_size, max_cut_rows = 16;

/// So few columns that lie side by side are cut into pieces of so many rows at least: each member then reads what lies
/// in one piece of memory. Of their results 16 bytes each wait in the workspace, too.
inline constexpr std::int64_t min_cut_columns = 64, max_cut_columns = 4096, rows_of_piece = 64, max_pieces = 16;

/// Windows of at most so many elements side by side, a step of one or two apart, are joined after all rows are.
inline constexpr std::int64_t max_window = 8;

/// Short rows that are folded among others go by as columns, and are joined after; so are rows of few columns. Of so
/// many elements together at most.
inline constexpr std::int64_t min_joined_row = 5, max_joined_row = 256, max_grouped_row = 128,
                              max_grouped_elements = 512;

/// Dense planes of at most so many elements are transposed, where there are so many of them.
inline constexpr std::int64_t max_plane_elements = 64, min_planes = 16;

}  // namespace cairn::kernels::cpu
