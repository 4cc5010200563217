#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// What reduce_rows.cpp tells reduce.cpp.
namespace cairn::inline v0::kernels::cpu {

enum class Fold : std::uint8_t { sum, mean, max, argmax };

inline constexpr int max_reduce_rank = 8;

struct ReducePlan {
    Fold fold;
    DType input, output;
    double of_nothing;                 ///< what folding no elements comes to
    bool is_reduced[max_reduce_rank];  ///< of each axis of the input
};

/// Rows so long and few are cut into pieces of so many elements, whose results wait in the workspace, 16 bytes each.
inline constexpr std::int64_t piece_size = 8192, least_cut = 2 * piece_size, most_cut_rows = 16;

/// So few columns that lie side by side are cut into pieces of so many rows at least: each member then reads what lies
/// in one piece of memory. Of their results 16 bytes each wait in the workspace, too.
inline constexpr std::int64_t least_cut_columns = 64, most_cut_columns = 4096, rows_of_piece = 64, most_pieces = 16;

/// Windows of at most so many elements side by side, a step of one or two apart, are joined after all rows are.
inline constexpr std::int64_t longest_window = 8;

/// Short rows that are folded among others go by as columns, and are joined after; so are rows of few columns. Of so
/// many elements together at most.
inline constexpr std::int64_t least_joined_row = 5, longest_joined_row = 256, longest_grouped_row = 128,
                              most_grouped = 512;

/// Dense planes of at most so many elements are transposed, where there are so many of them.
inline constexpr std::int64_t most_in_plane = 64, least_planes = 16;

}  // namespace cairn::inline v0::kernels::cpu
