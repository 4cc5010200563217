#pragma once

#include "kernels/cpu/gemm/packing.hpp"
#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"

#include <algorithm>

/// Products of rows of a with a column-major b, as dot products vectorised along the depth.
namespace CAIRN_LEVEL {

/// The first `count` < lanes elements as a vector of the computing type; the other lanes are 0.
CAIRN_INLINE F32 load_part_as(const float* p, std::int64_t count) { return load_part(p, count); }
CAIRN_INLINE F64 load_part_as(const double* p, std::int64_t count) { return vec_load_part(p, count, 0.0); }
template <typename Half>
CAIRN_INLINE F32 load_part_as(const Half* p, std::int64_t count) {
    return load_part(p, count);
}

/// Minimum prefetch distance, in columns.
inline constexpr std::int64_t dot_prefetch_distance = 4;
/// Columns of one prefetch group; columns that make a whole number of tiles of any height.
inline constexpr std::int64_t dot_columns = 12, dot_tiles = 24;

/// Operands of a tile: rows of a and columns of b. The tile prefetches the elements of b `ahead` elements further on.
template <typename T, typename Element>
struct DotSource {
    const T* a;
    std::int64_t a_stride;
    const Element* b;
    std::int64_t b_stride, ahead, depth, sum_stride;
    bool accumulates;  ///< adds to the sums in memory
};

/// Stores the horizontal reductions: to[i * stride + j] = the sum of the lanes of sum[i][j], or += with `accumulates`.
template <int height, int columns, typename T>
CAIRN_INLINE void store_reduced(const Vec<T> (&sum)[height][columns], T* to, std::int64_t stride, bool accumulates) {
    constexpr int width = vec_lanes<T>, count = height * columns, groups = (count + width - 1) / width;
    T reduced[groups * width];
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) {
        Vec<T> some[width];
#pragma GCC unroll 16
        for (int i = 0; i < width; ++i) {
            const int n = g * width + i;
            some[i] = n < count ? sum[n / columns][n % columns] : Vec<T>{};
        }
        vec_store(reduced + g * width, reduce_vectors(some, [](Vec<T> x, Vec<T> y) { return x + y; }));
    }
#pragma GCC unroll 12
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) {
            const int n = i * columns + j;
            const T found = reduced[n / width * width + reduced_lane<Vec<T>>(n % width)];
            T& result = to[i * stride + j];
            result = accumulates ? result + found : found;
        }
}

/// sums[i * sum_stride + j] = a[i] . b[j]: one accumulation chain per lane, then a horizontal reduction.
template <int height, int columns, typename T, typename Element>
[[gnu::noinline]] void dot_tile(const DotSource<T, Element>& source, T* sums) noexcept {
    constexpr int width = vec_lanes<T>;
    const std::int64_t a_stride = source.a_stride, b_stride = source.b_stride, ahead = source.ahead;
    Vec<T> sum[height][columns];
#pragma GCC unroll 12
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) sum[i][j] = Vec<T>{};
    const T* left[(height + 2) / 3];
#pragma GCC unroll 4
    for (int i = 0; i < (height + 2) / 3; ++i) left[i] = source.a + 3 * i * a_stride;
    const Element* right[(columns + 2) / 3];
#pragma GCC unroll 4
    for (int j = 0; j < (columns + 2) / 3; ++j) right[j] = source.b + 3 * j * b_stride;
    const auto step = [&](auto load_left, auto load_right) __attribute__((always_inline)) {
        const auto row = [&](int i) __attribute__((always_inline)) {
            return load_left(left[i / 3] + i % 3 * a_stride);
        };
        const auto column = [&](int j) __attribute__((always_inline)) {
            const Element* from = right[j / 3] + j % 3 * b_stride;
            __builtin_prefetch(from + ahead, 0, 2);
            return load_right(from);
        };
        if constexpr (height < columns) {
            Vec<T> rows[height];
#pragma GCC unroll 12
            for (int i = 0; i < height; ++i) rows[i] = row(i);
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j) {
                const Vec<T> value = column(j);
#pragma GCC unroll 12
                for (int i = 0; i < height; ++i) multiply_add(sum[i][j], rows[i], value);
            }
        } else {
            Vec<T> values[columns];
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j) values[j] = column(j);
#pragma GCC unroll 12
            for (int i = 0; i < height; ++i) {
                const Vec<T> value = row(i);
#pragma GCC unroll 8
                for (int j = 0; j < columns; ++j) multiply_add(sum[i][j], value, values[j]);
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < (height + 2) / 3; ++i) left[i] += width;
#pragma GCC unroll 4
        for (int j = 0; j < (columns + 2) / 3; ++j) right[j] += width;
    };
    std::int64_t k = source.depth;
    for (; k >= width; k -= width)
        step(
            [](const T* p) __attribute__((always_inline)) { return vec_load(p); },
            [](const Element* p) __attribute__((always_inline)) { return vector_at(p); });
    if (k > 0)
        step(
            [k](const T* p) __attribute__((always_inline)) { return load_part_as(p, k); },
            [k](const Element* p) __attribute__((always_inline)) { return load_part_as(p, k); });
    store_reduced<height, columns, T>(sum, sums, source.sum_stride, source.accumulates);
}

template <typename T, typename Element>
using DotTile = void (*)(const DotSource<T, Element>& source, T* sums) noexcept;
/// Tiles by height - 1: with as many columns as there are accumulators, and with one column.
template <typename T, typename Element, int... heights>
constexpr std::array<DotTile<T, Element>, sizeof...(heights)> widest_dots(std::integer_sequence<int, heights...>) {
    return {dot_tile<heights + 1, vectors_of(heights + 1), T, Element>...};
}
template <typename T, typename Element, int... heights>
constexpr std::array<DotTile<T, Element>, sizeof...(heights)> single_dots(std::integer_sequence<int, heights...>) {
    return {dot_tile<heights + 1, 1, T, Element>...};
}

/// Prefetch assignment of one row group among several that use the same columns one after another.
struct DotPrefetch {
    std::int64_t near;  ///< number of columns, from the first, that it prefetches shortly before use; 0: none
    std::int64_t far;   ///< distance to the data used after all columns, of which it prefetches a share; 0: no prefetch
    std::int64_t share, shares;

    /// Prefetch distance of a tile. 0 prefetches what the tile reads itself, which has no effect.
    std::int64_t at(std::int64_t column, std::int64_t columns, std::int64_t stride) const {
        const std::int64_t next = (dot_prefetch_distance + columns - 1) / columns * columns,
                           left = near - column - columns;
        if (near > 0) return next <= left || far == 0 ? std::min(next, left) * stride : far + (next - near) * stride;
        return column / dot_columns % shares == share ? far : 0;
    }
};

/// Computes the sums of `height` rows and `count` columns. Columns are prefetched while earlier ones are computed.
template <typename T, typename Element>
void compute_dots(DotSource<T, Element> source, int height, std::int64_t count, const DotPrefetch& prefetch,
                  T* sums) noexcept {
    static constexpr auto widest = widest_dots<T, Element>(std::make_integer_sequence<int, gemm_height>());
    static constexpr auto single = single_dots<T, Element>(std::make_integer_sequence<int, gemm_height>());
    const int most = vectors_of(height);
    for (std::int64_t column = 0; column < count;) {
        const int columns = count - column >= most ? most : 1;
        source.ahead = prefetch.at(column, columns, source.b_stride);
        (columns == most ? widest : single)[static_cast<std::size_t>(height - 1)](source, sums);
        source.b += columns * source.b_stride;
        sums += columns;
        column += columns;
    }
}

}  // namespace CAIRN_LEVEL
