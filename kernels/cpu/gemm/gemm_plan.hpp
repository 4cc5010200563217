#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// The plan that registration passes to the code of each level for a product of plain matrices.
namespace cairn::kernels::cpu {

struct GemmPlan {
    DType dtype;
    bool is_biased = false;  ///< of an argmax over each row: a bias is added before it
};

/// Cache blocking of a product. Every sum is one accumulation chain over the depth, so block sizes do not affect
/// results. Exception: dot products over a column-major b are reduced horizontally at every split of the depth.
struct GemmBlocks {
    /// MC: rows of a used with one block of b.
    static constexpr std::int64_t rows = 192;
    /// KC: bytes of a row of a used with one block of b, read in place and packed; the maximal depth of a block; the
    /// depth of a block of b that one tile reads in place, and that two tiles read in turn.
    static constexpr std::int64_t depth_bytes = 2048, copied_bytes = 1024, max_depth = 512, streamed_depth = 128,
                                  shared_depth = 64;
    /// KC in bytes for a column-major b; prefetch distance into L1, in rows of b.
    static constexpr std::int64_t column_major_bytes = 1024, near_rows = 8;
    /// Bytes of the rows of a that are kept in L1 while columns of b pass, and of the columns that several such row
    /// groups share in L2.
    static constexpr std::int64_t dot_bytes = 24576, shared_bytes = 147456;
    /// Dot products pay for their horizontal reductions if the depth is at least this many times the rows.
    static constexpr std::int64_t dot_rows = 8;
    /// NC: bytes of a row of sums that one thread computes at once, minimum and maximum.
    static constexpr std::int64_t min_row_bytes = 1536, max_row_bytes = 9216;
    /// Packed rows are padded by a cache line, away from multiples of large powers of two, which would map to few cache
    /// sets. `cache_ways` is the associativity of L1.
    static constexpr std::int64_t line_bytes = 64, page_bytes = 4096, cache_ways = 8;
    /// Scratch of one team member: packed rows of a, a packed block of b, sums.
    static constexpr std::int64_t a_bytes = rows * (copied_bytes + line_bytes), b_bytes = 65536,
                                  sum_bytes = rows * (min_row_bytes + line_bytes),
                                  bytes = a_bytes + b_bytes + sum_bytes;
    /// If no block of b is packed, its scratch also holds rows of a.
    static constexpr std::int64_t copied_rows_bytes = a_bytes + b_bytes;
};

/// Number of column runs, at least `runs` and at most `most`, for `tasks_each` tasks per run. If tasks are few, rounds
/// their number up to a multiple of `members`; otherwise some members would wait for the one with an extra task.
///
///     even_runs(5, 1, 2, 18) = 6
constexpr std::int64_t even_runs(std::int64_t runs, std::int64_t tasks_each, std::int64_t members,
                                 std::int64_t most) noexcept {
    constexpr std::int64_t few = 8;
    std::int64_t even = runs;
    while (even < most && even * tasks_each < few * members && even * tasks_each % members != 0) ++even;
    return even * tasks_each % members == 0 ? even : runs;
}

}  // namespace cairn::kernels::cpu
