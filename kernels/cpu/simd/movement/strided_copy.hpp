#pragma once

#include "cairn/kernel.hpp"

/// Copies between two strided layouts of the same shape, in runs and tiles instead of element by element.
namespace cairn::kernels::cpu {

inline constexpr int max_copy_rank = 8;

/// A shape with two sets of strides, in elements.
struct StridedCopy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    int rank = 0;
    std::int64_t shape[max_copy_rank], to_strides[max_copy_rank], from_strides[max_copy_rank];
    std::int64_t bytes = 4;  ///< of an element: 1, 2, 4 or 8

    /// Adds an axis inside the others, or merges it with the last one if both sides have a single stride.
    void add_axis(std::int64_t size, std::int64_t to_stride, std::int64_t from_stride) noexcept;
    std::int64_t count() const noexcept;
};

/// Copies. Members claim chunks by `chunk = team.next_chunk()`. If several jobs follow each other, `first_chunk` is the
/// number of the job's first chunk and `chunk` the one that this member holds. Returns the number after the job's last
/// chunk.
///
///     std::int64_t chunk = team.next_chunk(), first = 0;
///     for (const StridedCopy& job : jobs) first = copy_chunks(job, team, first, chunk);
std::int64_t copy_chunks(const StridedCopy& job, Team& team, std::int64_t first_chunk, std::int64_t& chunk) noexcept;

/// Copies elements [begin, end) in row-major order, for callers that share the work themselves.
void copy_elements(const StridedCopy& job, std::int64_t begin, std::int64_t end) noexcept;

}  // namespace cairn::kernels::cpu
