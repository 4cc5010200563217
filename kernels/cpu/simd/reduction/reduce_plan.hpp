#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// The plan that reduce_registration.cpp passes to reduce.cpp.
namespace cairn::kernels::cpu {

enum class ReduceKind : std::uint8_t { sum, mean, max, argmax };

inline constexpr int max_reduce_rank = 8;

struct ReducePlan {
    ReduceKind fold;
    DType input, output;
    double value_of_empty;             ///< the reduction of no elements
    bool is_reduced[max_reduce_rank];  ///< per axis of the input
};

/// Few long rows are split into pieces of this many elements; their results wait in the workspace, 16 bytes each.
inline constexpr std::int64_t piece_size = 8192, least_cut = 2 * piece_size, max_cut_rows = 16;

/// Few adjacent columns are split into pieces of at least this many rows, so that each member reads contiguous memory.
/// Their results also wait in the workspace, 16 bytes each.
inline constexpr std::int64_t min_cut_columns = 64, max_cut_columns = 4096, rows_of_piece = 64, max_pieces = 16;

/// Maximal size of windows over adjacent elements, one or two apart, that are combined after all rows are reduced.
inline constexpr std::int64_t max_window = 8;

/// Short rows that are reduced along with other axes are processed as columns and combined afterwards, as are rows of
/// few columns; together at most max_grouped_elements.
inline constexpr std::int64_t min_joined_row = 5, max_joined_row = 256, max_grouped_row = 128,
                              max_grouped_elements = 512;

/// Maximal elements of dense planes that are transposed, and the minimal number of planes.
inline constexpr std::int64_t max_plane_elements = 64, min_planes = 16;

}  // namespace cairn::kernels::cpu
