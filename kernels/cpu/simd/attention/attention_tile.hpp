#pragma once

#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/lane_shuffles.hpp"

/// Micro-kernels of attention. For many queries, scores are vectorised over queries; for few, over the head's elements.
/// Sums of values are vectorised over the elements of values. The tiles are functions of their own: if g++ inlines
/// several into one, it spills their accumulators.
namespace CAIRN_LEVEL {

// Vectorised over queries: keys are read in place, one broadcast element at a time.

/// Register blocking: vectors of queries times keys, as many accumulators as leave registers for the operands.
inline constexpr int tile_vectors = lanes >= 8 ? 3 : 2;
inline constexpr int tile_steps = lanes == 16 ? 8 : 4;

/// scores[r][v] = queries . keys[r], for R keys and V vectors of queries with row stride `width`.
template <int R, int V>
[[gnu::noinline]] void score_tile(float* scores, std::int64_t width, const float* queries, const float* keys,
                                  std::int64_t stride, std::int64_t depth) {
    F32 sum[R][V];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v) sum[r][v] = F32{};
    }
    for (std::int64_t d = 0; d < depth; ++d) {
        F32 q[V];
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v) q[v] = load(queries + d * width + v * lanes);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            const F32 k = splat(keys[r * stride + d]);
#pragma GCC unroll 16
            for (int v = 0; v < V; ++v) multiply_add(sum[r][v], k, q[v]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v) store(scores + r * width + v * lanes, sum[r][v]);
    }
}

/// The same for half a vector of queries.
template <int R>
[[gnu::noinline]] void half_score_tile(float* scores, std::int64_t width, const float* queries, const float* keys,
                                       std::int64_t stride, std::int64_t depth) {
    using Half = float __attribute__((vector_size(2 * lanes)));
    using HalfMemory = float __attribute__((vector_size(2 * lanes), aligned(4), may_alias));
    Half sum[R]{};
    for (std::int64_t d = 0; d < depth; ++d) {
        const Half q = *reinterpret_cast<const HalfMemory*>(queries + d * width);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) sum[r] += keys[r * stride + d] * q;
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) *reinterpret_cast<HalfMemory*>(scores + r * width) = sum[r];
}

// Vectorised over the head's elements: keys and values, f32 or 16-bit, are read once for all rows.

/// Adds the groups of four lanes of a vector.
template <int From = 0>
CAIRN_INLINE F4 narrow(F32 x) {
    if constexpr (From + 4 == lanes)
        return lanes_from<From, 4>(x);
    else
        return lanes_from<From, 4>(x) + narrow<From + 4>(x);
}
/// Horizontal sums of four vectors.
CAIRN_INLINE F4 four_sums(F32 a, F32 b, F32 c, F32 d) {
    const F4 x = narrow(a), y = narrow(b), z = narrow(c), w = narrow(d);
    const F4 xy = every_second<0, 2>(x, y) + every_second<1, 2>(x, y);
    const F4 zw = every_second<0, 2>(z, w) + every_second<1, 2>(z, w);
    return every_second<0, 1>(xy, zw) + every_second<1, 1>(xy, zw);
}

/// Pointers to four keys.
template <typename Element>
struct FourKeys {
    const Element* at[4];
};

/// sums[r] = queries[r] . each of four keys, for R queries of stride `stride` and a depth of whole vectors.
template <int R, typename Element>
[[gnu::noinline]] void key_tile(F4* sums, const float* queries, std::int64_t stride, const FourKeys<Element>& keys,
                                std::int64_t depth) {
    F32 sum[R][4];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = sum[r][2] = sum[r][3] = F32{};
    const Element *k0 = keys.at[0], *k1 = keys.at[1], *k2 = keys.at[2], *k3 = keys.at[3];
    for (std::int64_t d = 0; d < depth; d += lanes) {
        const F32 a = load(k0 + d), b = load(k1 + d), c = load(k2 + d), e = load(k3 + d);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            const F32 q = load(queries + r * stride + d);
            multiply_add(sum[r][0], q, a);
            multiply_add(sum[r][1], q, b);
            multiply_add(sum[r][2], q, c);
            multiply_add(sum[r][3], q, e);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) sums[r] = four_sums(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}

/// The tail for one query: adds the products of less than a vector.
template <typename Element>
[[gnu::noinline]] void add_part_of_keys(F4* sum, const float* query, const FourKeys<Element>& keys, std::int64_t depth,
                                        std::int64_t part) {
    const F32 x = load_part(query + depth, part);
    *sum += four_sums(x * load_part(keys.at[0] + depth, part), x * load_part(keys.at[1] + depth, part),
                      x * load_part(keys.at[2] + depth, part), x * load_part(keys.at[3] + depth, part));
}

/// Prefetches the cache line of `at`, unless null.
template <typename Element>
CAIRN_INLINE void prefetch(const Element* at) {
    if (at != nullptr) __builtin_prefetch(at, 0, 2);
}

/// Order of weights in memory: contiguous per row, or contiguous per key.
enum class WeightLayout { by_row, by_key };

/// sums[r][0 .. C vectors) = sums[r] * rescale[r] + weights[r] . values for R rows; without the first term if `rescale`
/// is null. With Partial the one vector of values has `part` elements. `ahead`: data to prefetch with the values'
/// stride, or null. A block of keys is summed separately first, so that sums over many keys are not single chains of
/// roundings.
template <int R, int C, bool Partial, WeightLayout Order = WeightLayout::by_row, typename Element>
[[gnu::noinline]] void row_tile(float* sums, std::int64_t sum_stride, const float* weights, std::int64_t weight_stride,
                                const Element* values, std::int64_t value_stride, std::int64_t keys, std::int64_t part,
                                const float* rescale, const Element* ahead) {
    F32 sum[R][C];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < C; ++c) sum[r][c] = F32{};
    }
    for (std::int64_t j = 0; j < keys; ++j) {
        if (ahead != nullptr) {
#pragma GCC unroll 16
            for (int c = 0; c < C; ++c)
                if (c * lanes * static_cast<int>(sizeof(Element)) % 64 == 0)
                    prefetch(ahead + j * value_stride + c * lanes);
        }
        const auto value = [&](int c) __attribute__((always_inline)) {
            const Element* at = values + j * value_stride + c * lanes;
            return Partial ? load_part(at, part) : load(at);
        };
        const auto weight = [&](int r) __attribute__((always_inline)) {
            return splat(Order == WeightLayout::by_row ? weights[r * weight_stride + j]
                                                       : weights[j * weight_stride + r]);
        };
        if constexpr (R == 1) {  // no vector is reused across rows
            const F32 w = weight(0);
#pragma GCC unroll 16
            for (int c = 0; c < C; ++c) multiply_add(sum[0][c], w, value(c));
            continue;
        }
        F32 v[C];
#pragma GCC unroll 16
        for (int c = 0; c < C; ++c) v[c] = value(c);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            const F32 w = weight(r);
#pragma GCC unroll 16
            for (int c = 0; c < C; ++c) multiply_add(sum[r][c], w, v[c]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < C; ++c) {
            float* const to = sums + r * sum_stride + c * lanes;
            store(to, rescale == nullptr ? sum[r][c] : load(to) * rescale[r] + sum[r][c]);
        }
    }
}

}  // namespace CAIRN_LEVEL
