#pragma once

#include "kernels/cpu/simd/vector/lane_shuffles.hpp"

#include <cstdint>
#include <cstring>

/// Transposes tiles in memory, and deinterleaves triples of elements, such as the channels of an image, into three
/// rows: in 16-byte registers, which every supported machine has.
namespace cairn::kernels::cpu {

/// A vector of 16 bytes.
template <typename T>
struct Vector128 {
    static constexpr int count = 16 / static_cast<int>(sizeof(T));
    typedef T Vector __attribute__((vector_size(16)));
};

/// Distance from a tile to the one transposed next. Its lines are prefetched, since the hardware prefetcher does not
/// predict distant rows.
struct TilePrefetch {
    std::int64_t to = 0, from = 0;  ///< in elements
};

/// to[i * to_stride + j] = from[i + j * from_stride] for i < rows, j < columns: a tile that stays in the cache. Each
/// cache line of `from` is used completely at once, because lines a large stride apart evict each other.
template <typename T>
void transpose_tile(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t rows,
                    std::int64_t columns, TilePrefetch ahead) noexcept {
    constexpr std::int64_t side = Vector128<T>::count, line = 4 * side;
    const std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
    for (std::int64_t first = 0; first < whole_rows; first += line) {
        const std::int64_t end = first + line < whole_rows ? first + line : whole_rows;
        for (std::int64_t j = 0; j < whole_columns; j += side) {
            if constexpr (sizeof(T) >= 4) {
                // Prefetches as many lines of the next tile as are read here, and a quarter of those that four steps
                // write. For small elements the transpose takes longer than the loads.
                const T* const read = from + ahead.from + first + j * from_stride;
                const T* const written = to + ahead.to + (first + j % line) * to_stride + j / line * line;
                for (int k = 0; k < side; ++k) {
                    __builtin_prefetch(read + k * from_stride, 0, 2);
                    __builtin_prefetch(written + k * to_stride, 1, 2);
                }
            }
            for (std::int64_t i = first; i < end; i += side) {
                using V = typename Vector128<T>::Vector;
                transpose_square<V>(
                    [=](int k) __attribute__((always_inline)) {
                        V x;
                        std::memcpy(&x, from + i + (j + k) * from_stride, sizeof x);
                        return x;
                    },
                    [=](int k, V x)
                        __attribute__((always_inline)) { std::memcpy(to + (i + k) * to_stride + j, &x, sizeof x); });
            }
        }
    }
    for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
            to[i * to_stride + j] = from[i + j * from_stride];
    }
}

/// to[c * to_stride + i] = from[3 * i + c] for i < n, c < 3.
template <typename T>
void deinterleave_triples(T* to, std::int64_t to_stride, const T* from, std::int64_t n) noexcept {
    constexpr int side = Vector128<T>::count;
    std::int64_t i = 0;
    for (; i + side <= n; i += side) {
        typename Vector128<T>::Vector x[3];
        std::memcpy(x, from + 3 * i, sizeof x);
        deinterleave(x);
        for (int c = 0; c < 3; ++c) std::memcpy(to + c * to_stride + i, &x[c], sizeof x[c]);
    }
    for (; i < n; ++i)
        for (int c = 0; c < 3; ++c) to[c * to_stride + i] = from[3 * i + c];
}

}  // namespace cairn::kernels::cpu
