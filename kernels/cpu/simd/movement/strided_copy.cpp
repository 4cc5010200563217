#include "kernels/cpu/simd/movement/strided_copy.hpp"

#include "kernels/cpu/simd/movement/packed_store.hpp"
#include "kernels/cpu/simd/movement/short_row_copy.hpp"
#include "kernels/cpu/simd/movement/tile_transpose.hpp"

#include <algorithm>
#include <cstring>

namespace cairn::kernels::cpu {
namespace {

constexpr std::int64_t chunk_elements = 8192, tiled_elements = 16384, short_row = 32;

/// Stride: that of `from` if it is a compile-time constant, which enables vectorisation; 0 otherwise.
template <int Stride, typename T>
void copy_each(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t n) noexcept {
    if constexpr (Stride > 0) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * Stride];
    } else {
        for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
    }
}
template <typename T>
void copy_strided(T* __restrict to, std::int64_t to_stride, const T* __restrict from, std::int64_t from_stride,
                  std::int64_t n) noexcept {
    if (from_stride == 0) {
        const T value = *from;
        if (to_stride == 1) return std::fill(to, to + n, value), void();
        for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = value;
    } else if (to_stride == 1 && from_stride == 2) {
        copy_each<2>(to, 1, from, 2, n);
    } else if (to_stride == 1 && from_stride == 4) {
        copy_each<4>(to, 1, from, 4, n);
    } else if (sizeof(T) <= 2 && to_stride == 1) {
        if constexpr (sizeof(T) <= 2)
            store_packed<T>(reinterpret_cast<std::byte*>(to), n, [&](std::int64_t i) { return from[i * from_stride]; });
    } else {
        copy_each<0>(to, to_stride, from, from_stride, n);
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

void copy_run(const StridedCopy& job, std::int64_t to_at, std::int64_t from_at, std::int64_t n) noexcept {
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

/// Copies whole rows of the last axis, consecutive along the axis before it.
void copy_rows(const StridedCopy& job, std::int64_t to_at, std::int64_t from_at, std::int64_t rows) noexcept {
    const int last = job.rank - 1;
    const std::int64_t length = job.shape[last], to_row = job.to_strides[last - 1],
                       from_row = job.from_strides[last - 1];
    if (job.to_strides[last] == 1 && job.from_strides[last] == 1) {
        return copy_plane({job.to + to_at * job.bytes, job.from + from_at * job.bytes, to_row * job.bytes,
                           from_row * job.bytes, rows, length * job.bytes});
    }
    with_element(job.bytes, [&](auto element) {
        using T = decltype(element);
        T* to = reinterpret_cast<T*>(job.to) + to_at;
        const T* from = reinterpret_cast<const T*>(job.from) + from_at;
        if (length < short_row && length < rows) {
            for (std::int64_t i = 0; i < length; ++i)
                copy_strided(to + i * job.to_strides[last], to_row, from + i * job.from_strides[last], from_row, rows);
        } else {
            for (std::int64_t row = 0; row < rows; ++row) {
                copy_strided(to + row * to_row, job.to_strides[last], from + row * from_row, job.from_strides[last],
                             length);
            }
        }
    });
}

/// Copies elements [begin, end) in row-major order of a job that has an axis.
void copy_range(const StridedCopy& job, std::int64_t begin, std::int64_t end) noexcept {
    const int last = job.rank - 1;
    std::int64_t at[max_copy_rank], rest = begin, to = 0, from = 0;
    for (int axis = last; axis >= 0; --axis) {
        at[axis] = rest % job.shape[axis];
        rest /= job.shape[axis];
        to += at[axis] * job.to_strides[axis];
        from += at[axis] * job.from_strides[axis];
    }
    const auto advance = [&](int axis, std::int64_t steps) {
        at[axis] += steps;
        to += steps * job.to_strides[axis];
        from += steps * job.from_strides[axis];
        for (; axis > 0 && at[axis] == job.shape[axis]; --axis) {
            to += job.to_strides[axis - 1] - at[axis] * job.to_strides[axis];
            from += job.from_strides[axis - 1] - at[axis] * job.from_strides[axis];
            at[axis] = 0;
            ++at[axis - 1];
        }
    };
    for (std::int64_t done = begin; done < end;) {
        std::int64_t rows = 0;
        if (last > 0 && at[last] == 0)
            rows = std::min(job.shape[last - 1] - at[last - 1], (end - done) / job.shape[last]);
        if (rows > 0) {
            copy_rows(job, to, from, rows);
            done += rows * job.shape[last];
            advance(last - 1, rows);
        } else {
            const std::int64_t run = std::min(job.shape[last] - at[last], end - done);
            copy_run(job, to, from, run);
            done += run;
            advance(last, run);
        }
    }
}

/// True if the last axis steps over triples, and `axis` over their elements.
bool has_triples(const StridedCopy& job, int axis) noexcept {
    return job.shape[axis] == 3 && job.from_strides[axis] == 1 && job.from_strides[job.rank - 1] == 3;
}
/// The axis that is contiguous in `from` if the last one is contiguous only in `to`: the two form a transpose. -1:
/// none.
int transposed_axis(const StridedCopy& job) noexcept {
    const int last = job.rank - 1;
    if (job.to_strides[last] != 1 || job.from_strides[last] <= 1 || job.shape[last] < 4) return -1;
    for (int axis = last - 1; axis >= 0; --axis) {
        if (job.from_strides[axis] == 1 && (job.shape[axis] >= 4 || has_triples(job, axis))) return axis;
    }
    return -1;
}

/// Views short rows that are dense on both sides as single elements, so that they can be transposed. Returns `job`
/// unchanged if that is not possible.
StridedCopy with_rows_as_elements(const StridedCopy& job) noexcept {
    const int last = job.rank - 1;
    const std::int64_t length = job.shape[last], row_bytes = length * job.bytes;
    const bool is_element = row_bytes == 2 || row_bytes == 4 || row_bytes == 8;
    if (last < 2 || !is_element || job.to_strides[last] != 1 || job.from_strides[last] != 1) return job;
    const auto is_apart = [&](const std::byte* data) {
        return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(row_bytes) != 0;
    };
    if (is_apart(job.to) || is_apart(job.from)) return job;
    StridedCopy wide = job;
    wide.rank = last;
    wide.bytes = row_bytes;
    for (int axis = 0; axis < last; ++axis) {
        if (job.to_strides[axis] % length != 0 || job.from_strides[axis] % length != 0) return job;
        wide.to_strides[axis] /= length;
        wide.from_strides[axis] /= length;
    }
    return transposed_axis(wide) >= 0 ? wide : job;
}

/// A tile of a transpose: offsets and size in elements.
struct TransposeTile {
    std::int64_t to, from, rows, columns;
};
/// Tiling of a transpose of `axis` and the last axis; tiles fit into L1 with room to spare.
struct TransposeTiling {
    std::int64_t rows, columns, down, across;

    TransposeTiling(const StridedCopy& job, int axis) noexcept {
        const int last = job.rank - 1;
        const std::int64_t side = job.bytes == 8 ? 32 : 64;
        rows = has_triples(job, axis) ? 3 : side;
        columns = side * side / rows / 16 * 16;
        down = (job.shape[axis] + rows - 1) / rows;
        across = (job.shape[last] + columns - 1) / columns;
    }
    std::int64_t elements() const noexcept { return rows * columns; }
};
/// Tile `item`; the other axes vary slowest.
TransposeTile tile_at(const StridedCopy& job, int axis, const TransposeTiling& tiling, std::int64_t item) noexcept {
    const int last = job.rank - 1;
    const std::int64_t column = item % tiling.across * tiling.columns,
                       row = item / tiling.across % tiling.down * tiling.rows;
    std::int64_t rest = item / (tiling.across * tiling.down);
    TransposeTile tile{row * job.to_strides[axis] + column, row + column * job.from_strides[last],
                       std::min(tiling.rows, job.shape[axis] - row),
                       std::min(tiling.columns, job.shape[last] - column)};
    for (int other = last - 1; other >= 0; --other) {
        if (other == axis) continue;
        tile.to += rest % job.shape[other] * job.to_strides[other];
        tile.from += rest % job.shape[other] * job.from_strides[other];
        rest /= job.shape[other];
    }
    return tile;
}

/// Copies tiles [begin, end), prefetching the next one during each.
void copy_tiles(const StridedCopy& job, int axis, const TransposeTiling& tiling, std::int64_t begin,
                std::int64_t end) noexcept {
    const int last = job.rank - 1;
    TransposeTile tile = tile_at(job, axis, tiling, begin);
    for (std::int64_t item = begin; item < end; ++item) {
        const TransposeTile next = item + 1 < end ? tile_at(job, axis, tiling, item + 1) : tile;
        with_element(job.bytes, [&](auto element) {
            using T = decltype(element);
            T* const to = reinterpret_cast<T*>(job.to) + tile.to;
            const T* const from = reinterpret_cast<const T*>(job.from) + tile.from;
            if (tiling.rows == 3)
                deinterleave_triples(to, job.to_strides[axis], from, tile.columns);
            else
                transpose_tile(to, job.to_strides[axis], from, job.from_strides[last], tile.rows, tile.columns,
                               {next.to - tile.to, next.from - tile.from});
        });
        tile = next;
    }
}

}  // namespace

void StridedCopy::add_axis(std::int64_t size, std::int64_t to_stride, std::int64_t from_stride) noexcept {
    if (size == 1) return;
    if (rank > 0 && to_strides[rank - 1] == to_stride * size && from_strides[rank - 1] == from_stride * size) {
        shape[rank - 1] *= size;
    } else {
        shape[rank++] = size;
    }
    to_strides[rank - 1] = to_stride;
    from_strides[rank - 1] = from_stride;
}

std::int64_t StridedCopy::count() const noexcept {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= shape[axis];
    return count;
}

void copy_elements(const StridedCopy& job, std::int64_t begin, std::int64_t end) noexcept {
    if (job.rank > 0) return copy_range(job, begin, end);
    if (begin < end) std::memcpy(job.to, job.from, static_cast<std::size_t>(job.bytes));
}

std::int64_t copy_chunks(const StridedCopy& job, Team& team, std::int64_t first_chunk, std::int64_t& chunk) noexcept {
    if (job.count() == 0) return first_chunk;
    StridedCopy scalar;
    if (job.rank == 0) {
        scalar = job;
        scalar.rank = 1;
        scalar.shape[0] = scalar.to_strides[0] = scalar.from_strides[0] = 1;
    }
    const StridedCopy walk = with_rows_as_elements(job.rank == 0 ? scalar : job);
    const int axis = transposed_axis(walk), last = walk.rank - 1;
    const TransposeTiling tiling(walk, axis >= 0 ? axis : last);
    std::int64_t items = walk.count();
    if (axis >= 0) items = items / (walk.shape[axis] * walk.shape[last]) * tiling.down * tiling.across;
    const std::int64_t per_chunk = axis >= 0 ? tiled_elements / tiling.elements() : chunk_elements;
    const std::int64_t end_chunk = first_chunk + (items + per_chunk - 1) / per_chunk;
    for (; chunk < end_chunk; chunk = team.next_chunk()) {
        const std::int64_t begin = (chunk - first_chunk) * per_chunk, end = std::min(items, begin + per_chunk);
        if (axis < 0) {
            copy_range(walk, begin, end);
        } else {
            copy_tiles(walk, axis, tiling, begin, end);
        }
    }
    return end_chunk;
}

}  // namespace cairn::kernels::cpu
