#pragma once

#include "kernels/cpu/gemm/block.hpp"
#include "kernels/cpu/simd/half.hpp"

/// Few rows of a with a b whose columns lie one behind the other in memory: sums of products along both.
namespace CAIRN_LEVEL {

/// Elements as they lie, as a vector of the numbers that are computed with.
CAIRN_INLINE F32 load_as(const float* p) { return wide_load(p); }
CAIRN_INLINE F64 load_as(const double* p) { return wide_load(p); }
CAIRN_INLINE double widened(double x) { return x; }
template <typename Half>
CAIRN_INLINE F32 load_as(const Half* p) {
    return load(p);
}

/// sums[i * columns + j] = vectors of a[i] . b[j] over a depth of whole vectors; each stream of b is fetched ahead,
/// but for the fewest rows.
template <int height, int columns, typename T, typename Element>
[[gnu::noinline]] void dot_tile(const T* a, std::int64_t a_stride, const Element* b, std::int64_t b_stride,
                                std::int64_t depth, Wide<T>* sums) noexcept {
    constexpr std::int64_t width = wide_lanes<T>, ahead = 1024 / static_cast<std::int64_t>(sizeof(Element));
    Wide<T> sum[height][columns];
#pragma GCC unroll 12
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) sum[i][j] = Wide<T>{};
    const T* left[(height + 2) / 3];
#pragma GCC unroll 4
    for (int i = 0; i < (height + 2) / 3; ++i) left[i] = a + 3 * i * a_stride;
    const Element* right[(columns + 2) / 3];
#pragma GCC unroll 4
    for (int j = 0; j < (columns + 2) / 3; ++j) right[j] = b + 3 * j * b_stride;
    for (std::int64_t k = 0; k < depth; k += width) {
        const auto row = [&](int i) __attribute__((always_inline)) {
            return wide_load(left[i / 3] + i % 3 * a_stride);
        };
        const auto column = [&](int j) __attribute__((always_inline)) {
            const Element* from = right[j / 3] + j % 3 * b_stride;
            if constexpr (height > gemm_unfetched) __builtin_prefetch(from + ahead, 0, 2);
            return load_as(from);
        };
        if constexpr (height < columns) {
            Wide<T> rows[height];
#pragma GCC unroll 12
            for (int i = 0; i < height; ++i) rows[i] = row(i);
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j) {
                const Wide<T> value = column(j);
#pragma GCC unroll 12
                for (int i = 0; i < height; ++i) multiply_add(sum[i][j], rows[i], value);
            }
        } else {
            Wide<T> values[columns];
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j) values[j] = column(j);
#pragma GCC unroll 12
            for (int i = 0; i < height; ++i) {
                const Wide<T> value = row(i);
#pragma GCC unroll 8
                for (int j = 0; j < columns; ++j) multiply_add(sum[i][j], value, values[j]);
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < (height + 2) / 3; ++i) left[i] += width;
#pragma GCC unroll 4
        for (int j = 0; j < (columns + 2) / 3; ++j) right[j] += width;
    }
#pragma GCC unroll 12
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) sums[i * columns + j] = sum[i][j];
}

template <typename T, typename Element>
using DotTile = void (*)(const T* a, std::int64_t a_stride, const Element* b, std::int64_t b_stride, std::int64_t depth,
                         Wide<T>* sums) noexcept;
/// By height - 1: of as many columns as there are accumulators, and of one.
template <typename T, typename Element, int... heights>
constexpr std::array<DotTile<T, Element>, sizeof...(heights)> widest_dots(std::integer_sequence<int, heights...>) {
    return {dot_tile<heights + 1, vectors_of(heights + 1), T, Element>...};
}
template <typename T, typename Element, int... heights>
constexpr std::array<DotTile<T, Element>, sizeof...(heights)> single_dots(std::integer_sequence<int, heights...>) {
    return {dot_tile<heights + 1, 1, T, Element>...};
}

/// sums[i * sum_stride + j] += a[i] . b[j] for j in [0, count), over any depth.
template <typename T, typename Element>
void add_dots(const T* a, std::int64_t a_stride, int height, const Element* b, std::int64_t b_stride,
              std::int64_t count, std::int64_t depth, T* sums, std::int64_t sum_stride) noexcept {
    static constexpr auto widest = widest_dots<T, Element>(std::make_integer_sequence<int, gemm_height>());
    static constexpr auto single = single_dots<T, Element>(std::make_integer_sequence<int, gemm_height>());
    const std::int64_t whole = depth / wide_lanes<T> * wide_lanes<T>;
    const int most = vectors_of(height);
    for (std::int64_t j = 0; j < count;) {
        const int columns = count - j >= most ? most : 1;
        Wide<T> found[gemm_sums];
        (columns == most ? widest : single)[static_cast<std::size_t>(height - 1)](a, a_stride, b + j * b_stride,
                                                                                  b_stride, whole, found);
        for (int i = 0; i < height; ++i)
            for (int c = 0; c < columns; ++c) {
                T sum = join_lanes<T>(found[i * columns + c], [](Wide<T> x, Wide<T> y) { return x + y; });
                const T* left = a + i * a_stride;
                const Element* right = b + (j + c) * b_stride;
                for (std::int64_t k = whole; k < depth; ++k) sum += left[k] * static_cast<T>(widened(right[k]));
                sums[i * sum_stride + j + c] += sum;
            }
        j += columns;
    }
}

}  // namespace CAIRN_LEVEL
