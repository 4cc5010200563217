#pragma once

#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

#include <array>
#include <utility>

/// The micro-kernels of products of plain matrices, for any number type: `height` rows of a times several vectors of
/// columns of b, accumulated over the depth in registers. Every element is one chain of multiply-adds over k.
namespace CAIRN_LEVEL {

/// Register blocking: rows of the tallest tile, and accumulators that fit into registers.
inline constexpr int gemm_height = lanes == 16 ? 12 : lanes == 8 ? 6 : 4;
inline constexpr int gemm_sums = lanes == 16 ? 24 : lanes == 8 ? 12 : 8;
/// Maximal rows for which blocks of b read in place are two cache lines wide: on longer runs the hardware prefetcher
/// also fetches adjacent lines.
inline constexpr int gemm_narrow = 4;
/// Maximal rows for which two tiles both read b in place; with more rows the first tile packs it.
inline constexpr int gemm_shared = lanes == 16 ? 16 : 2 * gemm_height;
/// Rows of a dot-product tile over a column-major b.
inline constexpr int gemm_dots = lanes == 16 ? 8 : gemm_height;
constexpr int vectors_of(int height) { return gemm_sums / height < 8 ? gemm_sums / height : 8; }
constexpr int narrow_vectors_of(int height) {
    return vectors_of(height) < 32 / lanes ? vectors_of(height) : 32 / lanes;
}
/// Cache lines of a number of vectors of T that are stored as Element.
template <typename T, typename Element = T>
constexpr int lines_of(int vectors) {
    return (vectors * vec_lanes<T> * static_cast<int>(sizeof(Element)) + 63) / 64;
}

/// Work that a tile does besides the product.
enum class ExtraWork : std::uint8_t { none, copies, prefetches_columns };

/// Operands of a tile, and its prefetches. The tile prefetches `lines` adjacent cache lines every 2^ahead_shift steps
/// of k, each time `ahead_step` bytes further. To prefetch columns it takes one line of each of as many columns as a
/// line has elements, then the next line of each. If Element is not T, b is widened in registers.
template <typename T, typename Element = T>
struct GemmSource {
    const T* a;
    std::int64_t a_stride;
    const Element* b;
    std::int64_t b_stride, depth, sum_stride;
    bool accumulates;  ///< adds to the sums in memory
    /// L1 prefetch distance in elements of b; 0: none. Vectors that cross a cache line are slow if the lines are not in
    /// L1.
    std::int64_t near;
    const char* ahead;
    std::int64_t ahead_step;  ///< 0: no prefetch
    int ahead_shift;          ///< 0 if several lines are prefetched per step
    T* copy;                  ///< where tiles that pack b store it, row after row
};

template <int lines>
CAIRN_INLINE void prefetch_lines(const char* ahead) {
#pragma GCC unroll 8
    for (int j = 0; j < lines; ++j) __builtin_prefetch(ahead + j * 64, 0, 2);
}
/// The prefetches at one k: of the next block, and into L1.
template <int height, int vectors, int lines, ExtraWork extra_work, typename T, typename Element>
CAIRN_INLINE void prefetch_next(const GemmSource<T, Element>& source, const char*& ahead, const Element* b,
                                const Element*& near, std::int64_t k) {
    constexpr std::int64_t width = vec_lanes<T>, in_line = 64 / sizeof(T);
    const std::int64_t step = source.ahead_step;
    if constexpr (extra_work == ExtraWork::prefetches_columns) {
        const std::int64_t number = k >> source.ahead_shift;
        __builtin_prefetch(ahead + number % in_line * step + number / in_line * 64, 0, 2);
        return;
    } else if constexpr (lines == 1) {
        __builtin_prefetch(ahead + (k >> source.ahead_shift) * step, 0, 2);
    } else {
        // The shortest steps issue more prefetches than processors track, so each line is prefetched twice.
        prefetch_lines<lines>(ahead);
        if constexpr (height <= 2) prefetch_lines<lines>(ahead + 8 * step);
        ahead += step;
    }
    // Tiles that prefetch one line have no register left for another moving address.
    if (lines == 1 ? source.near == 0 : near == nullptr) return;
    const Element* const brought = lines == 1 ? in_one_register(b + source.near) : near;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) __builtin_prefetch(brought + j * width, 0, 3);
    __builtin_prefetch(brought + vectors * width - 1, 0, 3);
    near += source.b_stride;
}

template <int height, int vectors, int lines, typename T, ExtraWork extra_work = ExtraWork::none, typename Element = T>
[[gnu::noinline]] void product_tile(const GemmSource<T, Element>& source, T* sums) noexcept {
    constexpr std::int64_t width = vec_lanes<T>;
    Vec<T> sum[height][vectors];
#pragma GCC unroll 12
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j)
            sum[i][j] = source.accumulates ? vec_load(sums + i * source.sum_stride + j * width) : Vec<T>{};
    // One pointer per three rows: addressing modes reach the base plus once or twice the row stride.
    const T* base[(height + 2) / 3];
#pragma GCC unroll 4
    for (int i = 0; i < (height + 2) / 3; ++i) base[i] = source.a + 3 * i * source.a_stride;
    const std::int64_t stride = source.a_stride;
    const Element* b = source.b;
    T* copy = source.copy;
    const char* ahead = source.ahead;
    const Element* near = source.near == 0 ? nullptr : b + source.near;
    // Only tiles that prefetch one line need k; the others count down, which takes one register less.
    std::int64_t k = 0;
    for (std::int64_t left_over = source.depth; lines == 1 ? k < source.depth : left_over > 0; --left_over, ++k) {
        prefetch_next<height, vectors, lines, extra_work>(source, ahead, b, near, k);
        const auto left = [&](int i) __attribute__((always_inline)) { return vec_splat(base[i / 3][i % 3 * stride]); };
        // A wide tile keeps the broadcasts of its rows in registers, a tall one its vectors of b; the other operand
        // needs one register.
        if constexpr (height < vectors) {
            Vec<T> lefts[height];
#pragma GCC unroll 12
            for (int i = 0; i < height; ++i) lefts[i] = left(i);
#pragma GCC unroll 8
            for (int j = 0; j < vectors; ++j) {
                const Vec<T> right = vector_at(b + j * width);
#pragma GCC unroll 12
                for (int i = 0; i < height; ++i) multiply_add(sum[i][j], lefts[i], right);
            }
        } else {
            Vec<T> rights[vectors];
#pragma GCC unroll 8
            for (int j = 0; j < vectors; ++j) rights[j] = vector_at(b + j * width);
            if constexpr (extra_work == ExtraWork::copies) {
#pragma GCC unroll 8
                for (int j = 0; j < vectors; ++j) vec_store(copy + j * width, rights[j]);
                copy += vectors * width;
            }
#pragma GCC unroll 12
            for (int i = 0; i < height; ++i) {
                const Vec<T> value = left(i);
#pragma GCC unroll 8
                for (int j = 0; j < vectors; ++j) multiply_add(sum[i][j], value, rights[j]);
            }
        }
        b += source.b_stride;
#pragma GCC unroll 4
        for (int i = 0; i < (height + 2) / 3; ++i) ++base[i];
    }
#pragma GCC unroll 12
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j) vec_store(sums + i * source.sum_stride + j * width, sum[i][j]);
}

template <typename T, typename Element = T>
using GemmTile = void (*)(const GemmSource<T, Element>& source, T* sums) noexcept;

/// Tiles by height - 1: as wide as there are accumulators, for a single tile that reads b; of two vectors and of one,
/// for several tiles that read b in turn.
template <typename T, typename Element, int... heights>
constexpr std::array<GemmTile<T, Element>, sizeof...(heights)> widest_tiles(std::integer_sequence<int, heights...>) {
    return {product_tile<heights + 1, vectors_of(heights + 1), lines_of<T, Element>(vectors_of(heights + 1)), T,
                         ExtraWork::none, Element>...};
}
template <typename T, int vectors, int... heights>
constexpr std::array<GemmTile<T>, sizeof...(heights)> tiles_of(std::integer_sequence<int, heights...>) {
    return {product_tile<heights + 1, vectors, 1, T>...};
}
/// Tiles by height - 1, for narrow blocks.
template <typename T, int... heights>
constexpr std::array<GemmTile<T>, sizeof...(heights)> narrow_tiles(std::integer_sequence<int, heights...>) {
    return {
        product_tile<heights + 1, narrow_vectors_of(heights + 1), lines_of<T>(narrow_vectors_of(heights + 1)), T>...};
}
/// Tiles by height - min_height: the first of several tiles, which packs b for the others while it computes, and those
/// that prefetch columns of the next block.
inline constexpr int min_height = gemm_height / 2;
template <typename T, ExtraWork extra_work, int... heights>
constexpr std::array<GemmTile<T>, sizeof...(heights)> first_tiles(std::integer_sequence<int, heights...>) {
    return {product_tile<min_height + heights, 2, 1, T, extra_work>...};
}
template <typename T>
struct GemmTiles {
    using Heights = std::make_integer_sequence<int, gemm_height>;
    using FirstHeights = std::make_integer_sequence<int, gemm_height - min_height + 1>;
    static constexpr auto copying = first_tiles<T, ExtraWork::copies>(FirstHeights());
    static constexpr auto prefetching = first_tiles<T, ExtraWork::prefetches_columns>(FirstHeights());
    static constexpr auto narrow = narrow_tiles<T>(std::make_integer_sequence<int, gemm_narrow>());
    template <typename Element = T>
    static constexpr auto widest = widest_tiles<T, Element>(Heights());
    static constexpr std::array<std::array<GemmTile<T>, gemm_height>, 2> shared = {tiles_of<T, 1>(Heights()),
                                                                                   tiles_of<T, 2>(Heights())};
};

}  // namespace CAIRN_LEVEL
