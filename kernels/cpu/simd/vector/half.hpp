#pragma once

#include "graph/types/half.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

#include <type_traits>

/// Conversions of f16 and bf16 to f32 and back: by the level's instruction if it has one, otherwise by
/// graph/types/half.hpp, with the same results.
namespace CAIRN_LEVEL {

/// Elements in memory, which are loaded as floats.
enum class F16 : std::uint16_t {};
enum class BF16 : std::uint16_t {};

/// Calls f with an element of the storage type of the dtype: f32, f16 or bf16.
template <typename F>
CAIRN_INLINE void with_element(DType dtype, F f) {
    switch (dtype) {
        case DType::f16: return f(F16());
        case DType::bf16: return f(BF16());
        default: return f(float());
    }
}

using F4 = float __attribute__((vector_size(16)));
using F4Memory = float __attribute__((vector_size(16), aligned(4), may_alias));

CAIRN_INLINE float widened(float x) { return x; }
CAIRN_INLINE float widened(F16 x) { return types::f16_to_f32(static_cast<std::uint16_t>(x)); }
CAIRN_INLINE float widened(BF16 x) { return types::bf16_to_f32(static_cast<std::uint16_t>(x)); }

CAIRN_INLINE F32 widened(Halves h, BF16) { return from_bits(from_u16(h) << 16); }
CAIRN_INLINE F32 widened(Halves h, F16) {
#if defined(CAIRN_HAS_F16)
    return from_f16(h);
#else
    F32 r;
    for (int i = 0; i < lanes; ++i) r[i] = types::f16_to_f32(h[i]);
    return r;
#endif
}

/// Rounds to bf16 in the upper halves; not for NaN.
CAIRN_INLINE U32 to_nearest_upper(U32 all) { return all + 0x7fffu + ((all >> 16) & 1u); }
/// The nearest bf16 in the upper halves, ties to even; NaN stays NaN.
CAIRN_INLINE U32 rounded_bf16(F32 x) {
    const U32 all = std::bit_cast<U32>(x);
    return x == x ? to_nearest_upper(all) : all | 0x00400000u;
}
/// x rounded to bf16, as the bits of floats.
CAIRN_INLINE U32 nearest_bf16(F32 x) { return rounded_bf16(x) & 0xffff0000u; }

template <typename Half>
CAIRN_INLINE F32 load(const Half* p) {
    Halves h;
    std::memcpy(&h, p, sizeof h);
    return widened(h, Half());
}
/// The first `count` < lanes elements, then zeros. Does not read past them.
template <typename Half>
CAIRN_INLINE F32 load_part(const Half* p, std::int64_t count) {
    return widened(load_part(reinterpret_cast<const std::uint16_t*>(p), count), Half());
}

CAIRN_INLINE Halves upper_halves(U32 x) {
    if constexpr (lanes == 16 && std::endian::native == std::endian::little) {
        using AllHalves = std::uint16_t __attribute__((vector_size(4 * lanes)));
        const auto all = std::bit_cast<AllHalves>(x);
        return shuffle<lanes>(all, all, [](int i) { return 2 * i + 1; });
    } else {
        return __builtin_convertvector(x >> 16, Halves);
    }
}
/// Rounds to nearest even; NaN stays NaN.
CAIRN_INLINE Halves narrowed(F32 x, BF16) { return upper_halves(rounded_bf16(x)); }
CAIRN_INLINE Halves narrowed(F32 x, F16) {
#if defined(CAIRN_HAS_F16)
    return to_f16(x);
#else
    Halves h;
    for (int i = 0; i < lanes; ++i) h[i] = types::f32_to_f16(x[i]);
    return h;
#endif
}
template <typename Half>
CAIRN_INLINE void store(Half* p, F32 x) {
    const Halves h = narrowed(x, Half());
    std::memcpy(p, &h, sizeof h);
}
/// Stores the first `count` < lanes elements only.
template <typename Half>
CAIRN_INLINE void store_part(Half* p, F32 x, std::int64_t count) {
    store_part(reinterpret_cast<std::uint16_t*>(p), narrowed(x, Half()), count);
}

/// Loads elements of any dtype as a vector of their computing type.
template <typename T>
CAIRN_INLINE auto vector_at(const T* p) {
    if constexpr (std::is_arithmetic_v<T>)
        return vec_load(p);
    else
        return load(p);
}
/// The first `count` elements, and `rest` in the other lanes.
template <typename T, typename V>
CAIRN_INLINE V vector_at(const T* p, std::int64_t count, V rest) {
    if constexpr (std::is_arithmetic_v<T>)
        return vec_load_part(p, count, rest[0]);
    else
        return first_lanes(count) != 0 ? load_part(p, count) : rest;
}

/// True if 16-bit floats are widened in registers as fast as a whole run is converted.
template <typename Half>
#if defined(CAIRN_HAS_F16)
inline constexpr bool widens_in_registers = true;
#else
inline constexpr bool widens_in_registers = !std::is_same_v<Half, F16>;
#endif

CAIRN_INLINE F4 load_four(const float* p) { return *reinterpret_cast<const F4Memory*>(p); }
template <typename Half>
CAIRN_INLINE F4 load_four(const Half* p) {
    F4 r;
    for (int i = 0; i < 4; ++i) r[i] = widened(p[i]);
    return r;
}

/// Calls vector(i) for whole vectors of n elements; the last one overlaps the one before. Returns the number of
/// elements done: 0 if there is less than a vector.
template <typename F>
CAIRN_INLINE std::int64_t in_vectors(std::int64_t n, F vector) {
    if (n < lanes) return 0;
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) vector(i);
    if (i < n) vector(n - lanes);
    return n;
}

/// Operands must not overlap.
inline void floats_of_f16(float* to, const std::uint16_t* from, std::int64_t n) {
    std::int64_t i = 0;
#if defined(CAIRN_HAS_F16)
    i = in_vectors(n, [&](std::int64_t at) { store(to + at, load(reinterpret_cast<const F16*>(from) + at)); });
#endif
    for (; i < n; ++i) to[i] = types::f16_to_f32(from[i]);
}
inline void f16_of_floats(std::uint16_t* to, const float* from, std::int64_t n) {
    std::int64_t i = 0;
#if defined(CAIRN_HAS_F16)
    i = in_vectors(n, [&](std::int64_t at) { store(reinterpret_cast<F16*>(to) + at, load(from + at)); });
#endif
    for (; i < n; ++i) to[i] = types::f32_to_f16(from[i]);
}

inline void floats_of_bf16(float* to, const std::uint16_t* from, std::int64_t n) {
    std::int64_t i = in_vectors(n, [&](std::int64_t at) {
        const F32 x = load(reinterpret_cast<const BF16*>(from) + at);
        const F32 quiet = std::bit_cast<F32>(std::bit_cast<U32>(x) | 0x00400000u);
        store(to + at, x == x ? x : quiet);
    });
    for (; i < n; ++i) to[i] = types::bf16_to_f32(from[i]);
}
inline void bf16_of_floats(std::uint16_t* to, const float* from, std::int64_t n) {
    std::int64_t i = in_vectors(n, [&](std::int64_t at) { store(reinterpret_cast<BF16*>(to) + at, load(from + at)); });
    for (; i < n; ++i) to[i] = types::f32_to_bf16(from[i]);
}

/// Rounds floats to the precision of f16 or bf16.
inline void round_to_f16(float* to, const float* from, std::int64_t n) {
    std::int64_t i = 0;
#if defined(CAIRN_HAS_F16)
    for (; i + lanes <= n; i += lanes) store(to + i, from_f16(to_f16(load(from + i))));
#endif
    for (; i < n; ++i) to[i] = types::f16_to_f32(types::f32_to_f16(from[i]));
}
inline void round_to_bf16(float* to, const float* from, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(to + i, std::bit_cast<F32>(nearest_bf16(load(from + i))));
    for (; i < n; ++i) to[i] = types::bf16_to_f32(types::f32_to_bf16(from[i]));
}

}  // namespace CAIRN_LEVEL
