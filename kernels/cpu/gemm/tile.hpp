#pragma once

#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

#include <array>
#include <utility>

/// The register tiles of products of plain matrices, for any type of numbers: `height` rows of a times some vectors of
/// columns of b, summed over a depth in registers. Every element is one chain of multiply-adds over k.
namespace CAIRN_LEVEL {

/// Rows of the tallest tile; accumulators that find a register; the widest tile of so many rows.
inline constexpr int gemm_height = lanes == 16 ? 12 : lanes == 8 ? 6 : 4;
inline constexpr int gemm_sums = lanes == 16 ? 24 : lanes == 8 ? 12 : 8;
/// Up to so many rows pieces of b that are read as they lie are two cache lines wide: of longer runs processors fetch
/// what is beside them as well.
inline constexpr int gemm_narrow = 4;
/// Up to so many rows are two tiles that both read b as it lies; of more the first copies it.
inline constexpr int gemm_shared = lanes == 16 ? 16 : 2 * gemm_height;
/// Rows that are used at once with columns of b that lie one behind the other.
inline constexpr int gemm_dots = lanes == 16 ? 8 : gemm_height;
constexpr int vectors_of(int height) { return gemm_sums / height < 8 ? gemm_sums / height : 8; }
constexpr int narrow_vectors_of(int height) {
    return vectors_of(height) < 32 / lanes ? vectors_of(height) : 32 / lanes;
}
/// Cache lines of so many vectors of T, whose elements lie as Elements.
template <typename T, typename Element = T>
constexpr int lines_of(int vectors) {
    return (vectors * vec_lanes<T> * static_cast<int>(sizeof(Element)) + 63) / 64;
}

/// What a tile does besides.
enum class ExtraWork : std::uint8_t { none, copies, prefetches_columns };

/// What a tile reads, and the lines it asks for while it computes: at each step of 2^ahead_shift k `lines` of them side
/// by side, `ahead_step` bytes further than before. Where it asks for columns: one line of each of as many as make a
/// line, then the next line of each. b is of numbers that are widened in registers where Element is not T.
template <typename T, typename Element = T>
struct GemmSource {
    const T* a;
    std::int64_t a_stride;
    const Element* b;
    std::int64_t b_stride, depth, sum_stride;
    bool accumulates;  ///< adds to the sums that are there
    /// How far ahead, in elements of b, lines come into the first-level cache: vectors across two lines wait long for
    /// them elsewhere. 0: none do.
    std::int64_t near;
    const char* ahead;
    std::int64_t ahead_step;  ///< 0: asks for nothing
    int ahead_shift;          ///< 0 where several lines are asked for at a step
    T* copy;                  ///< where tiles that copy b put it, row behind row
};

template <int lines>
CAIRN_INLINE void prefetch_lines(const char* ahead) {
#pragma GCC unroll 8
    for (int j = 0; j < lines; ++j) __builtin_prefetch(ahead + j * 64, 0, 2);
}
/// What is asked for at one k, and what is brought near.
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
        // The shortest steps ask for more than processors keep in mind: twice.
        prefetch_lines<lines>(ahead);
        if constexpr (height <= 2) prefetch_lines<lines>(ahead + 8 * step);
        ahead += step;
    }
    // Tiles that ask for one line have no register left for one more address that moves.
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
    // One pointer for three rows: an address is a base, plus once or twice the distance between rows.
    const T* base[(height + 2) / 3];
#pragma GCC unroll 4
    for (int i = 0; i < (height + 2) / 3; ++i) base[i] = source.a + 3 * i * source.a_stride;
    const std::int64_t stride = source.a_stride;
    const Element* b = source.b;
    T* copy = source.copy;
    const char* ahead = source.ahead;
    const Element* near = source.near == 0 ? nullptr : b + source.near;
    // Only tiles that ask for one line need k: others count down, which takes one register less.
    std::int64_t k = 0;
    for (std::int64_t left_over = source.depth; lines == 1 ? k < source.depth : left_over > 0; --left_over, ++k) {
        prefetch_next<height, vectors, lines, extra_work>(source, ahead, b, near, k);
        const auto left = [&](int i) __attribute__((always_inline)) { return vec_splat(base[i / 3][i % 3 * stride]); };
        // A wide tile keeps its rows' broadcasts, a tall one its vectors of b: the other operand needs one register.
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

/// By height - 1: tiles as wide as there are accumulators, which read b alone, and tiles of two vectors and of one,
/// several of which read it in turn.
template <typename T, typename Element, int... heights>
constexpr std::array<GemmTile<T, Element>, sizeof...(heights)> widest_tiles(std::integer_sequence<int, heights...>) {
    return {product_tile<heights + 1, vectors_of(heights + 1), lines_of<T, Element>(vectors_of(heights + 1)), T,
                         ExtraWork::none, Element>...};
}
template <typename T, int vectors, int... heights>
constexpr std::array<GemmTile<T>, sizeof...(heights)> tiles_of(std::integer_sequence<int, heights...>) {
    return {product_tile<heights + 1, vectors, 1, T>...};
}
/// By height - 1: those of narrow pieces.
template <typename T, int... heights>
constexpr std::array<GemmTile<T>, sizeof...(heights)> narrow_tiles(std::integer_sequence<int, heights...>) {
    return {
        product_tile<heights + 1, narrow_vectors_of(heights + 1), lines_of<T>(narrow_vectors_of(heights + 1)), T>...};
}
/// By height - min_height: those of the first of several tiles, which copies b for the others as it computes, and of
/// the first two, which ask for columns of the next piece.
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
    static constexpr auto asking = first_tiles<T, ExtraWork::prefetches_columns>(FirstHeights());
    static constexpr auto narrow = narrow_tiles<T>(std::make_integer_sequence<int, gemm_narrow>());
    template <typename Element = T>
    static constexpr auto widest = widest_tiles<T, Element>(Heights());
    static constexpr std::array<std::array<GemmTile<T>, gemm_height>, 2> shared = {tiles_of<T, 1>(Heights()),
                                                                                   tiles_of<T, 2>(Heights())};
};

}  // namespace CAIRN_LEVEL
