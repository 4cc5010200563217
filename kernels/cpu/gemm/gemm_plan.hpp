#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// What the code per level knows about a product of plain matrices beside its Args.
namespace cairn::kernels::cpu {

struct GemmPlan {
    DType dtype;
    bool is_biased = false;  ///< where the largest column of each row is looked for
};

/// The pieces in which a product is computed. Every sum is one chain over the depth, on which none of them tells, but
/// for sums along columns that lie one behind the other: those are joined where their depth is cut.
struct GemmBlocks {
    /// Rows of a that are used with one piece of b.
    static constexpr std::int64_t rows = 192;
    /// Bytes of a row of a that are used with one piece of b, as they lie and where they have to be copied; the depth
    /// of a piece at most, and of one that is read as it lies by one tile, and by two in turn.
    static constexpr std::int64_t depth_bytes = 2048, copied_bytes = 1024, max_depth = 512, streamed_depth = 128,
                                  shared_depth = 64;
    /// Bytes of the depth of a piece whose columns lie one behind the other; rows between what is used and what comes
    /// into the first-level cache.
    static constexpr std::int64_t column_major_bytes = 1024, near_rows = 8;
    /// Bytes of the rows of a part of a that is used with one column of b after another, and of the columns that
    /// several such parts use in turn.
    static constexpr std::int64_t dot_bytes = 24576, shared_bytes = 147456;
    /// A depth of so many times the rows pays for joining the lanes of each sum.
    static constexpr std::int64_t dot_rows = 8;
    /// Bytes of sums a row, which one thread computes at once, at least and at most.
    static constexpr std::int64_t min_row_bytes = 1536, max_row_bytes = 9216;
    /// Rows are kept a cache line apart from multiples of large powers of two, which share few places in caches. A
    /// place in the first-level cache holds a few lines.
    static constexpr std::int64_t line_bytes = 64, page_bytes = 4096, cache_ways = 8;
    /// Scratch of one member: rows of a, a piece of b, sums.
    static constexpr std::int64_t left_bytes = rows * (copied_bytes + line_bytes), right_bytes = 65536,
                                  sum_bytes = rows * (min_row_bytes + line_bytes),
                                  bytes = left_bytes + right_bytes + sum_bytes;
    /// Where no piece of b is copied, its room as well.
    static constexpr std::int64_t copied_rows_bytes = left_bytes + right_bytes;
};

/// At least `runs` of columns, each `tasks_each` tasks, and no more than `most`, so that few tasks are as many for each
/// member: with one more than the others it would keep them waiting.
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
