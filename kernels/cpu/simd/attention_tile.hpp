#pragma once

#include "kernels/cpu/simd/half.hpp"

/// The two products of attention on register tiles. Keys and values are floats, or half as wide.
namespace CAIRN_LEVEL {

/// Rows of a register tile: with two vectors a row, the accumulators fill the registers but for operands.
inline constexpr int tile_rows = lanes == 16 ? 12 : 6;
/// Keys side by side in a panel of transposed keys.
inline constexpr int panel_keys = 2 * lanes;

/// panel[d * panel_keys + j] = keys[j * stride + d]; zeros for the keys from `count` on.
template <typename Element>
CAIRN_INLINE void transpose_panel(float* panel, const Element* keys, std::int64_t stride, std::int64_t count,
                                  std::int64_t depth) {
    for (std::int64_t j = 0; j < panel_keys; j += 4) {
        std::int64_t d = 0;
        if (j + 4 <= count) {
            const Element* row = keys + j * stride;
            for (; d + 4 <= depth; d += 4) {
                const F4 a = load_four(row + d);
                const F4 b = load_four(row + stride + d);
                const F4 c = load_four(row + 2 * stride + d);
                const F4 e = load_four(row + 3 * stride + d);
                const F4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                         ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
                const F4 ce_low = __builtin_shufflevector(c, e, 0, 4, 1, 5),
                         ce_high = __builtin_shufflevector(c, e, 2, 6, 3, 7);
                float* to = panel + d * panel_keys + j;
                *reinterpret_cast<F4Memory*>(to) = __builtin_shufflevector(ab_low, ce_low, 0, 1, 4, 5);
                *reinterpret_cast<F4Memory*>(to + panel_keys) = __builtin_shufflevector(ab_low, ce_low, 2, 3, 6, 7);
                *reinterpret_cast<F4Memory*>(to + 2 * panel_keys) =
                    __builtin_shufflevector(ab_high, ce_high, 0, 1, 4, 5);
                *reinterpret_cast<F4Memory*>(to + 3 * panel_keys) =
                    __builtin_shufflevector(ab_high, ce_high, 2, 3, 6, 7);
            }
        }
        for (; d < depth; ++d) {
            for (std::int64_t i = j; i < j + 4; ++i)
                panel[d * panel_keys + i] = i < count ? widened(keys[i * stride + d]) : 0.0f;
        }
    }
}

// The tiles are functions of their own: where g++ inlines several into one, it keeps their accumulators in memory.

/// scores[r][0 .. panel_keys) = scale * q[r] . panel, for R rows.
template <int R>
[[gnu::noinline]] void score_tile(float* scores, std::int64_t score_stride, const float* q, std::int64_t q_stride,
                                  const float* panel, std::int64_t depth, float scale) {
    F32 left[R], right[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) left[r] = right[r] = F32{};
    for (std::int64_t d = 0; d < depth; ++d) {
        const F32 k0 = load(panel + d * panel_keys), k1 = load(panel + d * panel_keys + lanes);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            const F32 a = splat(q[r * q_stride + d]);
            multiply_add(left[r], a, k0);
            multiply_add(right[r], a, k1);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
        store(scores + r * score_stride, left[r] * scale);
        store(scores + r * score_stride + lanes, right[r] * scale);
    }
}

/// sums[r][0 .. C vectors) = sums[r] * shrink[r] + weights[r] . values, for R rows; where it is Partial, the one vector
/// of values has `part` elements.
template <int R, int C, bool Partial, typename Element>
[[gnu::noinline]] void value_tile(float* sums, std::int64_t sum_stride, const float* weights,
                                  std::int64_t weight_stride, const Element* values, std::int64_t value_stride, std::int64_t keys,
                                  const float* shrink, std::int64_t part) {
    F32 sum[R][C];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < C; ++c) sum[r][c] = load(sums + r * sum_stride + c * lanes) * shrink[r];
    }
    for (std::int64_t j = 0; j < keys; ++j) {
        const auto value = [&](int c) __attribute__((always_inline)) {
            const Element* at = values + j * value_stride + c * lanes;
            return Partial ? load_part(at, part) : load(at);
        };
        if constexpr (R == 1) {  // no row reads a vector again
            const F32 w = splat(weights[j]);
#pragma GCC unroll 16
            for (int c = 0; c < C; ++c) multiply_add(sum[0][c], w, value(c));
            continue;
        }
        F32 v[C];
#pragma GCC unroll 16
        for (int c = 0; c < C; ++c) v[c] = value(c);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
            const F32 w = splat(weights[r * weight_stride + j]);
#pragma GCC unroll 16
            for (int c = 0; c < C; ++c) multiply_add(sum[r][c], w, v[c]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int c = 0; c < C; ++c) store(sums + r * sum_stride + c * lanes, sum[r][c]);
    }
}

/// Four lanes of a vector, from lane `From` on.
template <int From>
CAIRN_INLINE F4 four_from(F32 x) {
    static_assert(From + 4 <= lanes);
    return __builtin_shufflevector(x, x, From, From + 1, From + 2, From + 3);
}
/// The sum of the vector's quarters, eighths, ... of four lanes.
template <int From = 0>
CAIRN_INLINE F4 narrow(F32 x) {
    if constexpr (From + 4 == lanes)
        return four_from<From>(x);
    else
        return four_from<From>(x) + narrow<From + 4>(x);
}
/// The sums of the lanes of four vectors.
CAIRN_INLINE F4 four_sums(F32 a, F32 b, F32 c, F32 d) {
    const F4 x = narrow(a), y = narrow(b), z = narrow(c), w = narrow(d);
    const F4 xy = __builtin_shufflevector(x, y, 0, 1, 4, 5) + __builtin_shufflevector(x, y, 2, 3, 6, 7);
    const F4 zw = __builtin_shufflevector(z, w, 0, 1, 4, 5) + __builtin_shufflevector(z, w, 2, 3, 6, 7);
    return __builtin_shufflevector(xy, zw, 0, 2, 4, 6) + __builtin_shufflevector(xy, zw, 1, 3, 5, 7);
}

/// q . keys of four keys, for a depth of whole vectors.
template <typename Element>
[[gnu::noinline]] F4 four_products(const float* q, const Element* k0, const Element* k1, const Element* k2,
                                   const Element* k3, std::int64_t depth) {
    F32 s0{}, s1{}, s2{}, s3{};
    for (std::int64_t d = 0; d < depth; d += lanes) {
        const F32 x = load(q + d);
        multiply_add(s0, x, load(k0 + d));
        multiply_add(s1, x, load(k1 + d));
        multiply_add(s2, x, load(k2 + d));
        multiply_add(s3, x, load(k3 + d));
    }
    return four_sums(s0, s1, s2, s3);
}

/// The same for less than a vector.
template <typename Element>
[[gnu::noinline]] F4 four_part_products(const float* q, const Element* k0, const Element* k1, const Element* k2,
                                        const Element* k3, std::int64_t part) {
    const F32 x = load_part(q, part);
    return four_sums(x * load_part(k0, part), x * load_part(k1, part), x * load_part(k2, part),
                     x * load_part(k3, part));
}

/// scores[j] = scale * q . keys[j] for one query, keys as they lie.
template <typename Element>
CAIRN_INLINE void score_row(float* scores, const float* q, const Element* keys, std::int64_t stride, std::int64_t count,
                            std::int64_t depth, float scale) {
    // Behind the last key the last one is read again; its scores are not kept.
    const auto key = [&](std::int64_t j) { return keys + (j < count ? j : count - 1) * stride; };
    const std::int64_t whole = depth / lanes * lanes;
    for (std::int64_t j = 0; j < count; j += 4) {
        const Element *k0 = key(j), *k1 = key(j + 1), *k2 = key(j + 2), *k3 = key(j + 3);
        F4 four = four_products(q, k0, k1, k2, k3, whole);
        if (whole < depth)
            four += four_part_products(q + whole, k0 + whole, k1 + whole, k2 + whole, k3 + whole, depth - whole);
        four *= scale;
        for (std::int64_t i = 0; i < 4 && j + i < count; ++i) scores[j + i] = four[i];
    }
}

}  // namespace CAIRN_LEVEL
