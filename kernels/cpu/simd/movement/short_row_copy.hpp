#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

/// Copies planes whose rows are too short for a memcpy call each: the row length is a compile-time constant.
namespace cairn::kernels::cpu {

/// `rows` rows of `row_bytes` contiguous bytes with a row stride in bytes on each side. Passed by value, so that the
/// compiler knows that stores do not alias it.
struct BytePlane {
    std::byte* to;
    const std::byte* from;
    std::int64_t to_stride, from_stride, rows, row_bytes;
};

inline constexpr std::int64_t max_short_row = 64;

/// Copies rows of Bytes bytes, each as Moved >= Bytes bytes: later rows overwrite the excess. Returns the number of
/// rows.
template <int Bytes, int Moved>
std::int64_t copy_rows_spilling(BytePlane plane) noexcept {
    if (plane.to_stride != Bytes || plane.from_stride < 1) return 0;
    const std::int64_t written = (plane.rows * Bytes - Moved) / Bytes,
                       read = ((plane.rows - 1) * plane.from_stride + Bytes - Moved) / plane.from_stride;
    const std::int64_t rows = std::min(written, read);
    for (std::int64_t row = 0; row < rows; ++row)
        std::memcpy(plane.to + row * Bytes, plane.from + row * plane.from_stride, Moved);
    return std::max<std::int64_t>(rows, 0);
}

template <int Bytes>
void copy_rows_of(BytePlane plane) noexcept {
    constexpr int moved = Bytes <= 2 ? Bytes : Bytes <= 4 ? 4 : Bytes <= 8 ? 8 : 16;
    std::int64_t row = 0;
    if constexpr (moved != Bytes) row = copy_rows_spilling<Bytes, moved>(plane);
    for (; row < plane.rows; ++row)
        std::memcpy(plane.to + row * plane.to_stride, plane.from + row * plane.from_stride, Bytes);
}

/// Copies rows of 16 * (Blocks - 1) < n <= 16 * Blocks bytes; the last block overlaps the one before.
template <int Blocks>
void copy_rows_of_blocks(BytePlane plane) noexcept {
    for (std::int64_t row = 0; row < plane.rows; ++row) {
        std::byte* to = plane.to + row * plane.to_stride;
        const std::byte* from = plane.from + row * plane.from_stride;
        for (int block = 0; block + 1 < Blocks; ++block) std::memcpy(to + 16 * block, from + 16 * block, 16);
        std::memcpy(to + plane.row_bytes - 16, from + plane.row_bytes - 16, 16);
    }
}

/// Repeats one row densely: copies from what is already written, in pieces that stay in the cache.
inline void repeat_row(BytePlane plane) noexcept {
    constexpr std::int64_t longest_piece = 4096;
    const std::int64_t total = plane.rows * plane.row_bytes;
    std::memcpy(plane.to, plane.from, static_cast<std::size_t>(plane.row_bytes));
    for (std::int64_t done = plane.row_bytes; done < total;) {
        const std::int64_t whole_rows = std::min(done, longest_piece) / plane.row_bytes * plane.row_bytes;
        const std::int64_t piece = std::min(std::max(whole_rows, plane.row_bytes), total - done);
        std::memcpy(plane.to + done, plane.to, static_cast<std::size_t>(piece));
        done += piece;
    }
}

inline void copy_plane(BytePlane plane) noexcept {
    if (plane.from_stride == 0 && plane.to_stride == plane.row_bytes) return repeat_row(plane);
    switch (plane.row_bytes) {
        case 1: return copy_rows_of<1>(plane);
        case 2: return copy_rows_of<2>(plane);
        case 3: return copy_rows_of<3>(plane);
        case 4: return copy_rows_of<4>(plane);
        case 5: return copy_rows_of<5>(plane);
        case 6: return copy_rows_of<6>(plane);
        case 7: return copy_rows_of<7>(plane);
        case 8: return copy_rows_of<8>(plane);
        case 9: return copy_rows_of<9>(plane);
        case 10: return copy_rows_of<10>(plane);
        case 11: return copy_rows_of<11>(plane);
        case 12: return copy_rows_of<12>(plane);
        case 13: return copy_rows_of<13>(plane);
        case 14: return copy_rows_of<14>(plane);
        case 15: return copy_rows_of<15>(plane);
        case 16: return copy_rows_of<16>(plane);
        default: break;
    }
    if (plane.row_bytes <= 32) return copy_rows_of_blocks<2>(plane);
    if (plane.row_bytes <= 48) return copy_rows_of_blocks<3>(plane);
    if (plane.row_bytes <= max_short_row) return copy_rows_of_blocks<4>(plane);
    for (std::int64_t row = 0; row < plane.rows; ++row) {
        std::memcpy(plane.to + row * plane.to_stride, plane.from + row * plane.from_stride,
                    static_cast<std::size_t>(plane.row_bytes));
    }
}

}  // namespace cairn::kernels::cpu
