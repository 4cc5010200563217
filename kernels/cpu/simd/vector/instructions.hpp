#pragma once

#include "kernels/cpu/level.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(CAIRN_EMULATED)
#include "kernels/cpu/simd/vector/emulated_lane.hpp"
#elif defined(__SSE2__)
#include <immintrin.h>
#endif

/// The instructions that kernels use explicitly, one function each; all other operations are the compiler's vector
/// arithmetic, which is portable. So the sources of a level also run on machines without its instructions: compiled
/// with CAIRN_EMULATED=<lanes>, each function is its twin in plain arithmetic, with the same results. Only this file
/// and tile_registers.hpp use intrinsics, assembler or the compiler's instruction set macros.
namespace CAIRN_LEVEL {

#define CAIRN_INLINE inline __attribute__((always_inline))

#if defined(CAIRN_EMULATED)
inline constexpr int lanes = CAIRN_EMULATED;
#elif defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX2__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

using F32 = float __attribute__((vector_size(4 * lanes)));
using I32 = std::int32_t __attribute__((vector_size(4 * lanes)));
/// As many 16-bit elements: f16, bf16.
using Halves = std::uint16_t __attribute__((vector_size(2 * lanes)));
using F64 = double __attribute__((vector_size(4 * lanes)));
/// As many floats as F64 has doubles.
using HalfF32 = float __attribute__((vector_size(2 * lanes)));
/// As many bytes.
using I8Lanes = std::int8_t __attribute__((vector_size(lanes)));
using U8Lanes = std::uint8_t __attribute__((vector_size(lanes)));

/// The same pointer, held in one register: addresses at constant distances from it are computed from there. Otherwise
/// compilers keep a register for each distance, and spill to vector registers when they run out.
template <typename T>
CAIRN_INLINE T* in_one_register(T* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

#if defined(CAIRN_EMULATED)

/// f(element of each vector), lane by lane.
template <typename Result = I32, typename F, typename... V>
CAIRN_INLINE Result for_each_lane(F f, const V&... v) {
    Result r;
    for (int i = 0; i < lanes; ++i) r[i] = f(v[i]...);
    return r;
}

#define CAIRN_HAS_F16 1
// They access only their caller's memory, so sanitizers would find nothing in them.
#define CAIRN_CALL_A_VECTOR gnu::noinline, gnu::no_sanitize("address", "thread", "undefined")
[[CAIRN_CALL_A_VECTOR]] static void fused_by_libm(float* __restrict sum, const float* __restrict a,
                                                  const float* __restrict b) noexcept {
    for (int i = 0; i < lanes; ++i) sum[i] = __builtin_fmaf(a[i], b[i], sum[i]);
}
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
// The CPU's own instruction, if it has it: libm takes six times as long, lane by lane.
[[CAIRN_CALL_A_VECTOR, gnu::target("fma"), gnu::optimize("O3")]] static void fused_by_instruction(
    float* __restrict sum, const float* __restrict a, const float* __restrict b) noexcept {
    for (int i = 0; i < lanes; ++i) sum[i] = __builtin_fmaf(a[i], b[i], sum[i]);
}
inline auto* fused_lanes() { return __builtin_cpu_supports("fma") != 0 ? fused_by_instruction : fused_by_libm; }
#else
inline auto* fused_lanes() { return fused_by_libm; }
#endif
CAIRN_INLINE void multiply_add(F32& sum, F32 a, F32 b) {
    fused_lanes()(reinterpret_cast<float*>(&sum), reinterpret_cast<const float*>(&a),
                  reinterpret_cast<const float*>(&b));
}
CAIRN_INLINE void multiply_add(F64& sum, F64 a, F64 b) {
    for (int i = 0; i < lanes / 2; ++i) sum[i] = __builtin_fma(a[i], b[i], sum[i]);
}
template <typename V>
CAIRN_INLINE void multiply_add(V& sum, V a, V b) {
    sum += a * b;
}
CAIRN_INLINE F32 sqrt(F32 x) {
    return for_each_lane<F32>([](float e) { return __builtin_sqrtf(e); }, x);
}
CAIRN_INLINE F64 sqrt(F64 x) {
    for (int i = 0; i < lanes / 2; ++i) x[i] = __builtin_sqrt(x[i]);
    return x;
}
#define CAIRN_HAS_FLOOR 1
CAIRN_INLINE F32 rounded_down(F32 x) {
    return for_each_lane<F32>([](float e) { return __builtin_floorf(e); }, x);
}
CAIRN_INLINE F64 rounded_down(F64 x) {
    for (int i = 0; i < lanes / 2; ++i) x[i] = __builtin_floor(x[i]);
    return x;
}
#if CAIRN_EMULATED == 16
#define CAIRN_HAS_SCALE 1
CAIRN_INLINE F32 scaled(F32 x, F32 n) { return for_each_lane<F32>(lane::scaled, x, n); }
#endif
CAIRN_INLINE F32 quick_max(F32 a, F32 b) { return a > b ? a : b; }
CAIRN_INLINE F32 quick_min(F32 a, F32 b) { return a < b ? a : b; }
CAIRN_INLINE F64 quick_max(F64 a, F64 b) { return a > b ? a : b; }
CAIRN_INLINE F64 quick_min(F64 a, F64 b) { return a < b ? a : b; }
CAIRN_INLINE F64 to_doubles(HalfF32 x) { return __builtin_convertvector(x, F64); }
template <typename V>
CAIRN_INLINE V rounded(V x) {
    asm("" : "+m"(x));
    return x;
}
CAIRN_INLINE F64 product_error(F64 a, F64 b, F64 product) {
    F64 r = -product;
    multiply_add(r, a, b);
    return r;
}
CAIRN_INLINE std::uint32_t movemask(I32 mask) {
    std::uint32_t all = 0;
    for (int i = 0; i < lanes; ++i) all |= (mask[i] != 0 ? 1u : 0u) << i;
    return all;
}
CAIRN_INLINE F32 load_part(const float* p, std::int64_t count) {
    F32 r{};
    std::memcpy(&r, p, static_cast<std::size_t>(count) * 4);
    return r;
}
CAIRN_INLINE void store_part(float* p, F32 x, std::int64_t count) {
    std::memcpy(p, &x, static_cast<std::size_t>(count) * 4);
}
CAIRN_INLINE Halves load_part(const std::uint16_t* p, std::int64_t count) {
    Halves r{};
    std::memcpy(&r, p, static_cast<std::size_t>(count) * 2);
    return r;
}
CAIRN_INLINE void store_part(std::uint16_t* p, Halves x, std::int64_t count) {
    std::memcpy(p, &x, static_cast<std::size_t>(count) * 2);
}
CAIRN_INLINE I32 from_u16(Halves h) { return __builtin_convertvector(h, I32); }
CAIRN_INLINE I32 from_bytes(I8Lanes bytes) { return __builtin_convertvector(bytes, I32); }
CAIRN_INLINE I32 from_bytes(U8Lanes bytes) { return __builtin_convertvector(bytes, I32); }
CAIRN_INLINE U8Lanes low_bytes(I32 x) { return __builtin_convertvector(x, U8Lanes); }
CAIRN_INLINE F32 from_f16(Halves h) { return for_each_lane<F32>(types::f16_to_f32, h); }
CAIRN_INLINE Halves to_f16(F32 x) { return for_each_lane<Halves>(types::f32_to_f16, x); }
CAIRN_INLINE I32 pairs_i16(I32 a, I32 b) { return for_each_lane(lane::pairs_i16, a, b); }
CAIRN_INLINE I32 pairs_u8_i8(I32 a, I32 b) { return for_each_lane(lane::pairs_u8_i8, a, b); }
CAIRN_INLINE void dot_i16(I32& sum, I32 a, I32 b) { sum = for_each_lane(lane::dot_i16, sum, a, b); }
CAIRN_INLINE void dot_i16_saturated(I32& sum, I32 a, I32 b) { sum = for_each_lane(lane::dot_i16_saturated, sum, a, b); }
CAIRN_INLINE void dot_u8_i8(I32& sum, I32 a, I32 b) { sum = for_each_lane(lane::dot_u8_i8, sum, a, b); }
CAIRN_INLINE void dot_u8_i8_saturated(I32& sum, I32 a, I32 b) {
    sum = for_each_lane(lane::dot_u8_i8_saturated, sum, a, b);
}
CAIRN_INLINE void dot_bf16(F32& sum, I32 a, I32 b) { sum = for_each_lane<F32>(lane::dot_bf16, sum, a, b); }
CAIRN_INLINE Halves to_bf16(F32 x) { return for_each_lane<Halves>(lane::to_bf16, x); }

#else

/// sum += a * b, with one rounding if the level has FMA. Written in assembler, like all accumulations, because g++ 12
/// otherwise spills the accumulators of a register tile.
CAIRN_INLINE void multiply_add(F32& sum, F32 a, F32 b) {
#if defined(__FMA__)
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
    sum += a * b;
#endif
}
CAIRN_INLINE void multiply_add(F64& sum, F64 a, F64 b) {
#if defined(__FMA__)
    asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
    sum += a * b;
#endif
}
/// For unsigned integers of any width; wraps.
template <typename V>
CAIRN_INLINE void multiply_add(V& sum, V a, V b) {
    sum += a * b;
#if defined(__SSE2__)
    asm("" : "+v"(sum));
#endif
}

// g++ 12 warns of an uninitialised value in some plain intrinsics; those are replaced by the masked form with all
// lanes.
#if defined(__AVX512F__)
inline constexpr auto all_lanes = static_cast<__mmask16>(-1);
#endif

CAIRN_INLINE F32 sqrt(F32 x) {
#if defined(__AVX512F__)
    return _mm512_maskz_sqrt_ps(all_lanes, x);
#elif defined(__AVX2__)
    return _mm256_sqrt_ps(x);
#else
    F32 r;
    for (int i = 0; i < lanes; ++i) r[i] = __builtin_sqrtf(x[i]);
    return r;
#endif
}

CAIRN_INLINE F64 sqrt(F64 x) {
#if defined(__AVX512F__)
    return _mm512_maskz_sqrt_pd(static_cast<__mmask8>(-1), x);
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(x);
#else
    for (int i = 0; i < lanes / 2; ++i) x[i] = __builtin_sqrt(x[i]);
    return x;
#endif
}

/// The larger or the smaller number; b if either is NaN or both are zeros. Compilers emit two instructions for it.
#if defined(__AVX512F__)
CAIRN_INLINE F32 quick_max(F32 a, F32 b) { return _mm512_maskz_max_ps(all_lanes, a, b); }
CAIRN_INLINE F32 quick_min(F32 a, F32 b) { return _mm512_maskz_min_ps(all_lanes, a, b); }
CAIRN_INLINE F64 quick_max(F64 a, F64 b) { return _mm512_maskz_max_pd(static_cast<__mmask8>(-1), a, b); }
CAIRN_INLINE F64 quick_min(F64 a, F64 b) { return _mm512_maskz_min_pd(static_cast<__mmask8>(-1), a, b); }
#elif defined(__AVX2__)
CAIRN_INLINE F32 quick_max(F32 a, F32 b) { return _mm256_max_ps(a, b); }
CAIRN_INLINE F32 quick_min(F32 a, F32 b) { return _mm256_min_ps(a, b); }
CAIRN_INLINE F64 quick_max(F64 a, F64 b) { return _mm256_max_pd(a, b); }
CAIRN_INLINE F64 quick_min(F64 a, F64 b) { return _mm256_min_pd(a, b); }
#elif defined(__SSE2__)
CAIRN_INLINE F32 quick_max(F32 a, F32 b) { return _mm_max_ps(a, b); }
CAIRN_INLINE F32 quick_min(F32 a, F32 b) { return _mm_min_ps(a, b); }
CAIRN_INLINE F64 quick_max(F64 a, F64 b) { return _mm_max_pd(a, b); }
CAIRN_INLINE F64 quick_min(F64 a, F64 b) { return _mm_min_pd(a, b); }
#else
CAIRN_INLINE F32 quick_max(F32 a, F32 b) { return a > b ? a : b; }
CAIRN_INLINE F32 quick_min(F32 a, F32 b) { return a < b ? a : b; }
CAIRN_INLINE F64 quick_max(F64 a, F64 b) { return a > b ? a : b; }
CAIRN_INLINE F64 quick_min(F64 a, F64 b) { return a < b ? a : b; }
#endif

/// The largest integers not above x. CAIRN_HAS_FLOOR: the level has an instruction.
#if defined(__AVX512F__)
#define CAIRN_HAS_FLOOR 1
CAIRN_INLINE F32 rounded_down(F32 x) {
    return _mm512_maskz_roundscale_ps(all_lanes, x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
CAIRN_INLINE F64 rounded_down(F64 x) {
    return _mm512_maskz_roundscale_pd(static_cast<__mmask8>(-1), x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
#elif defined(__AVX2__)
#define CAIRN_HAS_FLOOR 1
CAIRN_INLINE F32 rounded_down(F32 x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
CAIRN_INLINE F64 rounded_down(F64 x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
#endif

/// x * 2^n for integral n in -1000..1000, rounded once. CAIRN_HAS_SCALE: the level has an instruction.
#if defined(__AVX512F__)
#define CAIRN_HAS_SCALE 1
CAIRN_INLINE F32 scaled(F32 x, F32 n) { return _mm512_maskz_scalef_ps(all_lanes, x, n); }
#endif

/// Compilers convert halves of vectors and concatenate them.
#if defined(__AVX512F__)
CAIRN_INLINE F64 to_doubles(HalfF32 x) { return _mm512_maskz_cvtps_pd(static_cast<__mmask8>(-1), x); }
#elif defined(__AVX2__)
CAIRN_INLINE F64 to_doubles(HalfF32 x) { return _mm256_cvtps_pd(x); }
#else
CAIRN_INLINE F64 to_doubles(HalfF32 x) { return __builtin_convertvector(x, F64); }
#endif

/// x, opaque to the compiler: prevents contraction of a product with a following sum.
template <typename V>
CAIRN_INLINE V rounded(V x) {
#if defined(__SSE2__)
    asm("" : "+v"(x));
#else
    asm("" : "+m"(x));
#endif
    return x;
}

/// a * b - product, where `product` is a * b rounded. Exact with FMA; otherwise with an error of 2^-104 of the product.
/// Not exact below the range of doubles.
CAIRN_INLINE F64 product_error(F64 a, F64 b, F64 product) {
#if defined(__FMA__)
    F64 r = -product;
    multiply_add(r, a, b);
    return r;
#else
    // Dekker: products of heads of 26 bits and of tails of 27.
    using Bits = std::uint64_t __attribute__((vector_size(4 * lanes)));
    constexpr std::uint64_t head = ~std::uint64_t{0x7ffffff};
    const F64 a_head = std::bit_cast<F64>(std::bit_cast<Bits>(a) & head), a_tail = a - a_head;
    const F64 b_head = std::bit_cast<F64>(std::bit_cast<Bits>(b) & head), b_tail = b - b_head;
    return a_tail * b_tail - (((product - a_head * b_head) - a_tail * b_head) - a_head * b_tail);
#endif
}

/// The true lanes of a mask, as bits from the lowest on.
CAIRN_INLINE std::uint32_t movemask(I32 mask) {
#if defined(__AVX512DQ__)
    return _mm512_movepi32_mask(std::bit_cast<__m512i>(mask));
#elif defined(__AVX2__) && !defined(__AVX512F__)
    return static_cast<std::uint32_t>(_mm256_movemask_ps(std::bit_cast<__m256>(mask)));
#elif defined(__SSE2__) && !defined(__AVX512F__)
    return static_cast<std::uint32_t>(_mm_movemask_ps(std::bit_cast<__m128>(mask)));
#else
    std::uint32_t all = 0;
    for (int i = 0; i < lanes; ++i) all |= (mask[i] != 0 ? 1u : 0u) << i;
    return all;
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/// True in the first `count` lanes.
CAIRN_INLINE __m256i mask_of(std::int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif
/// The first `count` < lanes elements, then zeros. Does not read past them.
CAIRN_INLINE F32 load_part(const float* p, std::int64_t count) {
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
#elif defined(__AVX2__)
    return _mm256_maskload_ps(p, mask_of(count));
#else
    F32 r{};
    std::memcpy(&r, p, static_cast<std::size_t>(count) * 4);
    return r;
#endif
}
/// Stores the first `count` < lanes elements only.
CAIRN_INLINE void store_part(float* p, F32 x, std::int64_t count) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), x);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(p, mask_of(count), x);
#else
    std::memcpy(p, &x, static_cast<std::size_t>(count) * 4);
#endif
}
/// The same for 16-bit elements.
CAIRN_INLINE Halves load_part(const std::uint16_t* p, std::int64_t count) {
#if defined(__AVX512BW__)
    return std::bit_cast<Halves>(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), p));
#else
    Halves r{};
    std::memcpy(&r, p, static_cast<std::size_t>(count) * 2);
    return r;
#endif
}
CAIRN_INLINE void store_part(std::uint16_t* p, Halves x, std::int64_t count) {
#if defined(__AVX512BW__)
    _mm256_mask_storeu_epi16(p, static_cast<__mmask16>((1u << count) - 1), std::bit_cast<__m256i>(x));
#else
    std::memcpy(p, &x, static_cast<std::size_t>(count) * 2);
#endif
}

/// Zero-extends integers; compilers do it in halves of a vector.
#if defined(__AVX512F__)
CAIRN_INLINE I32 from_u16(Halves h) {
    return std::bit_cast<I32>(_mm512_maskz_cvtepu16_epi32(all_lanes, std::bit_cast<__m256i>(h)));
}
#elif defined(__AVX2__)
CAIRN_INLINE I32 from_u16(Halves h) { return std::bit_cast<I32>(_mm256_cvtepu16_epi32(std::bit_cast<__m128i>(h))); }
#else
CAIRN_INLINE I32 from_u16(Halves h) { return __builtin_convertvector(h, I32); }
#endif

/// Sign- or zero-extends bytes to integers, which compilers do one by one; and the lowest byte of each integer.
#if defined(__AVX512F__)
CAIRN_INLINE I32 from_bytes(I8Lanes bytes) {
    return std::bit_cast<I32>(_mm512_maskz_cvtepi8_epi32(all_lanes, std::bit_cast<__m128i>(bytes)));
}
CAIRN_INLINE I32 from_bytes(U8Lanes bytes) {
    return std::bit_cast<I32>(_mm512_maskz_cvtepu8_epi32(all_lanes, std::bit_cast<__m128i>(bytes)));
}
CAIRN_INLINE U8Lanes low_bytes(I32 x) {
    return std::bit_cast<U8Lanes>(_mm512_maskz_cvtepi32_epi8(all_lanes, std::bit_cast<__m512i>(x)));
}
#elif defined(__AVX2__)
CAIRN_INLINE I32 from_bytes(I8Lanes bytes) {
    return std::bit_cast<I32>(_mm256_cvtepi8_epi32(_mm_set_epi64x(0, std::bit_cast<std::int64_t>(bytes))));
}
CAIRN_INLINE I32 from_bytes(U8Lanes bytes) {
    return std::bit_cast<I32>(_mm256_cvtepu8_epi32(_mm_set_epi64x(0, std::bit_cast<std::int64_t>(bytes))));
}
CAIRN_INLINE U8Lanes low_bytes(I32 x) {
    const __m256i all = std::bit_cast<__m256i>(x & 0xff);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return std::bit_cast<U8Lanes>(_mm_cvtsi128_si64(_mm_packus_epi16(words, words)));
}
#elif defined(__SSE2__)
CAIRN_INLINE I32 from_bytes(U8Lanes bytes) {
    const __m128i zero = _mm_setzero_si128(), four = _mm_cvtsi32_si128(std::bit_cast<std::int32_t>(bytes));
    return std::bit_cast<I32>(_mm_unpacklo_epi16(_mm_unpacklo_epi8(four, zero), zero));
}
CAIRN_INLINE I32 from_bytes(I8Lanes bytes) { return (from_bytes(std::bit_cast<U8Lanes>(bytes)) << 24) >> 24; }
CAIRN_INLINE U8Lanes low_bytes(I32 x) {
    const __m128i all = std::bit_cast<__m128i>(x & 0xff), words = _mm_packs_epi32(all, all);
    return std::bit_cast<U8Lanes>(_mm_cvtsi128_si32(_mm_packus_epi16(words, words)));
}
#else
CAIRN_INLINE I32 from_bytes(I8Lanes bytes) { return __builtin_convertvector(bytes, I32); }
CAIRN_INLINE I32 from_bytes(U8Lanes bytes) { return __builtin_convertvector(bytes, I32); }
CAIRN_INLINE U8Lanes low_bytes(I32 x) { return __builtin_convertvector(x, U8Lanes); }
#endif

/// Converts f16 to f32 and back as graph/types/half.hpp does, by the level's instruction. CAIRN_HAS_F16: the level has
/// one.
#if defined(__AVX512F__)
#define CAIRN_HAS_F16 1
CAIRN_INLINE F32 from_f16(Halves h) { return _mm512_maskz_cvtph_ps(all_lanes, std::bit_cast<__m256i>(h)); }
CAIRN_INLINE Halves to_f16(F32 x) {
    return std::bit_cast<Halves>(_mm512_maskz_cvtps_ph(all_lanes, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__F16C__)
#define CAIRN_HAS_F16 1
CAIRN_INLINE F32 from_f16(Halves h) { return _mm256_cvtph_ps(std::bit_cast<__m128i>(h)); }
CAIRN_INLINE Halves to_f16(F32 x) {
    return std::bit_cast<Halves>(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#endif

// Dot products of integers and bf16: a 32-bit lane holds two or four parts, and accumulates their products in 32 bits.

#if defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__))
/// Two products of signed 16-bit numbers; wraps.
CAIRN_INLINE I32 pairs_i16(I32 a, I32 b) {
    I32 r;
    asm("vpmaddwd %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
    return r;
}
/// Two 16-bit sums of two products of unsigned and signed bytes; each is saturated.
CAIRN_INLINE I32 pairs_u8_i8(I32 a, I32 b) {
    I32 r;
    asm("vpmaddubsw %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
    return r;
}
#elif defined(__SSE2__)
CAIRN_INLINE I32 pairs_i16(I32 a, I32 b) {
    return std::bit_cast<I32>(_mm_madd_epi16(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
}
#else
CAIRN_INLINE I32 pairs_i16(I32 a, I32 b) { return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16); }
#endif

// CPUs without AVX-512 have only the shorter VEX encodings (AVX-VNNI).
#if defined(__AVX512VNNI__)
#define CAIRN_VNNI "%{evex%} "
#elif defined(__AVXVNNI__)
#define CAIRN_VNNI "%{vex%} "
#endif
#if defined(CAIRN_VNNI)
/// sum += two products of signed 16-bit numbers; wraps. `_saturated`: saturates once to 32 bits; the sum of products is
/// exact.
CAIRN_INLINE void dot_i16(I32& sum, I32 a, I32 b) {
    asm(CAIRN_VNNI "vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
CAIRN_INLINE void dot_i16_saturated(I32& sum, I32 a, I32 b) {
    asm(CAIRN_VNNI "vpdpwssds %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
/// sum += four products of bytes, unsigned in `a`, signed in `b`.
CAIRN_INLINE void dot_u8_i8(I32& sum, I32 a, I32 b) {
    asm(CAIRN_VNNI "vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
CAIRN_INLINE void dot_u8_i8_saturated(I32& sum, I32 a, I32 b) {
    asm(CAIRN_VNNI "vpdpbusds %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
#undef CAIRN_VNNI
#elif defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__))
/// The same in two instructions, with the same results.
CAIRN_INLINE void dot_i16(I32& sum, I32 a, I32 b) {
    const I32 pairs = pairs_i16(a, b);
    asm("vpaddd %1, %0, %0" : "+v"(sum) : "v"(pairs));
}
#else
CAIRN_INLINE void dot_i16(I32& sum, I32 a, I32 b) { sum += pairs_i16(a, b); }
#endif

#if defined(__AVX512BF16__)
/// sum += two products of bf16, the upper one first, each rounded once to nearest. Subnormal operands and results are
/// zero.
CAIRN_INLINE void dot_bf16(F32& sum, I32 a, I32 b) { asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b)); }
/// Rounds to nearest even; subnormals become zero; NaN stays NaN.
CAIRN_INLINE Halves to_bf16(F32 x) {
    Halves r;
    if constexpr (lanes == 16)
        asm("vcvtneps2bf16 %1, %t0" : "=v"(r) : "v"(x));
    else
        asm("vcvtneps2bf16 %1, %x0" : "=v"(r) : "v"(x));
    return r;
}
#endif

#endif  // CAIRN_EMULATED

}  // namespace CAIRN_LEVEL
