#include "kernels/cpu/simd/copy_runs.hpp"

#include <algorithm>
#include <cstring>

namespace cairn::inline v0::kernels::cpu {
namespace {

constexpr std::int64_t chunk_elements = 8192, tile_size = 32;

template <typename T>
void copy_strided(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t n) noexcept {
    if (from_stride == 0) {
        const T value = *from;
        for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = value;
    } else {
        for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
    }
}

/// to[i * to_stride + j] = from[i + j * from_stride] for a tile that stays in the cache.
template <typename T>
void transpose_tile(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t rows,
                    std::int64_t columns) noexcept {
    for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t i = 0; i < rows; ++i) to[i * to_stride + j] = from[i + j * from_stride];
    }
}

/// Calls f with an unsigned integer of the element's size.
template <typename F>
void with_element(std::int64_t bytes, F f) {
    switch (bytes) {
        case 1: return f(std::uint8_t());
        case 2: return f(std::uint16_t());
        case 4: return f(std::uint32_t());
        default: return f(std::uint64_t());
    }
}

void copy_run(const CopyJob& job, std::int64_t to_at, std::int64_t from_at, std::int64_t n) noexcept {
    const int last = job.rank - 1;
    std::byte* to = job.to + to_at * job.bytes;
    const std::byte* from = job.from + from_at * job.bytes;
    if (job.to_strides[last] == 1 && job.from_strides[last] == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(n * job.bytes));
        return;
    }
    with_element(job.bytes, [&](auto element) {
        using T = decltype(element);
        copy_strided(reinterpret_cast<T*>(to), job.to_strides[last], reinterpret_cast<const T*>(from),
                     job.from_strides[last], n);
    });
}

/// Elements [begin, end) in row-major order.
void copy_range(const CopyJob& job, std::int64_t begin, std::int64_t end) noexcept {
    const int last = job.rank - 1;
    std::int64_t at[max_copy_rank], rest = begin, to = 0, from = 0;
    for (int axis = last; axis >= 0; --axis) {
        at[axis] = rest % job.shape[axis];
        rest /= job.shape[axis];
        to += at[axis] * job.to_strides[axis];
        from += at[axis] * job.from_strides[axis];
    }
    for (std::int64_t done = begin; done < end;) {
        const std::int64_t run = std::min(job.shape[last] - at[last], end - done);
        copy_run(job, to, from, run);
        done += run;
        at[last] += run;
        to += run * job.to_strides[last];
        from += run * job.from_strides[last];
        for (int axis = last; axis > 0 && at[axis] == job.shape[axis]; --axis) {
            to += job.to_strides[axis - 1] - at[axis] * job.to_strides[axis];
            from += job.from_strides[axis - 1] - at[axis] * job.from_strides[axis];
            at[axis] = 0;
            ++at[axis - 1];
        }
    }
}

/// The axis that is contiguous in `from` where the last one is contiguous in `to` only: together they make a transpose.
/// -1: none.
int transposed_axis(const CopyJob& job) noexcept {
    const int last = job.rank - 1;
    if (job.to_strides[last] != 1 || job.from_strides[last] <= 1 || job.shape[last] < 4) return -1;
    for (int axis = last - 1; axis >= 0; --axis) {
        if (job.from_strides[axis] == 1 && job.shape[axis] >= 4) return axis;
    }
    return -1;
}

/// Tile `item` of a transpose of `axis` and the last axis; the other axes are the slow part of the item's number.
void copy_tile(const CopyJob& job, int axis, std::int64_t item) noexcept {
    const int last = job.rank - 1;
    const std::int64_t across = (job.shape[last] + tile_size - 1) / tile_size,
                       down = (job.shape[axis] + tile_size - 1) / tile_size;
    const std::int64_t column = item % across * tile_size, row = item / across % down * tile_size;
    std::int64_t rest = item / (across * down);
    std::int64_t to = row * job.to_strides[axis] + column, from = row + column * job.from_strides[last];
    for (int other = last - 1; other >= 0; --other) {
        if (other == axis) continue;
        to += rest % job.shape[other] * job.to_strides[other];
        from += rest % job.shape[other] * job.from_strides[other];
        rest /= job.shape[other];
    }
    with_element(job.bytes, [&](auto element) {
        using T = decltype(element);
        transpose_tile(reinterpret_cast<T*>(job.to) + to, job.to_strides[axis],
                       reinterpret_cast<const T*>(job.from) + from, job.from_strides[last],
                       std::min(tile_size, job.shape[axis] - row), std::min(tile_size, job.shape[last] - column));
    });
}

}  // namespace

void CopyJob::add_axis(std::int64_t size, std::int64_t to_stride, std::int64_t from_stride) noexcept {
    if (size == 1) return;
    if (rank > 0 && to_strides[rank - 1] == to_stride * size && from_strides[rank - 1] == from_stride * size) {
        shape[rank - 1] *= size;
    } else {
        shape[rank++] = size;
    }
    to_strides[rank - 1] = to_stride;
    from_strides[rank - 1] = from_stride;
}

std::int64_t CopyJob::count() const noexcept {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= shape[axis];
    return count;
}

std::int64_t copy_chunks(const CopyJob& job, Team& team, std::int64_t first_chunk, std::int64_t& chunk) noexcept {
    const std::int64_t count = job.count();
    if (count == 0) return first_chunk;
    CopyJob scalar;
    if (job.rank == 0) {
        scalar = job;
        scalar.rank = 1;
        scalar.shape[0] = scalar.to_strides[0] = scalar.from_strides[0] = 1;
    }
    const CopyJob& walk = job.rank == 0 ? scalar : job;
    const int axis = transposed_axis(walk), last = walk.rank - 1;
    std::int64_t items = count;
    if (axis >= 0) {
        const std::int64_t tiles_down = (walk.shape[axis] + tile_size - 1) / tile_size;
        const std::int64_t tiles_across = (walk.shape[last] + tile_size - 1) / tile_size;
        items = count / (walk.shape[axis] * walk.shape[last]) * tiles_down * tiles_across;
    }
    const std::int64_t per_chunk = axis >= 0 ? chunk_elements / (tile_size * tile_size) : chunk_elements;
    const std::int64_t end_chunk = first_chunk + (items + per_chunk - 1) / per_chunk;
    for (; chunk < end_chunk; chunk = team.next_chunk()) {
        const std::int64_t begin = (chunk - first_chunk) * per_chunk, end = std::min(items, begin + per_chunk);
        if (axis < 0) {
            copy_range(walk, begin, end);
        } else {
            for (std::int64_t item = begin; item < end; ++item) copy_tile(walk, axis, item);
        }
    }
    return end_chunk;
}

}  // namespace cairn::inline v0::kernels::cpu
