#pragma once

#include "cairn/kernel.hpp"

/// Copying between two walks over the same axes, in runs and tiles instead of element by element.
namespace cairn::kernels::cpu {

inline constexpr int max_copy_rank = 8;

/// The same shape walked with two sets of strides (in elements).
struct StridedCopy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    int rank = 0;
    std::int64_t shape[max_copy_rank], to_strides[max_copy_rank], from_strides[max_copy_rank];
    std::int64_t bytes = 4;  ///< of an element: 1, 2, 4 or 8

    /// Adds an axis inside the others, or makes the last one longer where both sides walk on in its stride.
    void add_axis(std::int64_t size, std::int64_t to_stride, std::int64_t from_stride) noexcept;
    std::int64_t count() const noexcept;
};

/// Copies. Members take chunks by `chunk = team.next_chunk()`; `first_chunk` is the number of the job's first chunk
/// where several jobs follow each other, and `chunk` the one this member holds. Returns the number behind the job's
/// last chunk.
///
///     std::int64_t chunk = team.next_chunk(), first = 0;
///     for (const StridedCopy& job : jobs) first = copy_chunks(job, team, first, chunk);
std::int64_t copy_chunks(const StridedCopy& job, Team& team, std::int64_t first_chunk, std::int64_t& chunk) noexcept;

/// Copies elements [begin, end) in row-major order, for those that share out work of their own.
void copy_elements(const StridedCopy& job, std::int64_t begin, std::int64_t end) noexcept;

}  // namespace cairn::kernels::cpu
