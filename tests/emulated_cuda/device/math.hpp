#pragma once

#include "tests/emulated_cuda/device/language.hpp"

/// The mathematical functions of CUDA C++. Fast intrinsics are the exact functions.
extern "C" {
float sqrtf(float) noexcept;
float expf(float) noexcept;
float exp2f(float) noexcept;
float expm1f(float) noexcept;
float logf(float) noexcept;
float log2f(float) noexcept;
float log10f(float) noexcept;
float log1pf(float) noexcept;
float host_powf(float, float) noexcept __asm__("powf");
float sinf(float) noexcept;
float cosf(float) noexcept;
float tanf(float) noexcept;
float asinf(float) noexcept;
float acosf(float) noexcept;
float atanf(float) noexcept;
float atan2f(float, float) noexcept;
float sinhf(float) noexcept;
float coshf(float) noexcept;
float tanhf(float) noexcept;
float erff(float) noexcept;
float erfcf(float) noexcept;
float floorf(float) noexcept;
float ceilf(float) noexcept;
float truncf(float) noexcept;
float roundf(float) noexcept;
float rintf(float) noexcept;
float fmodf(float, float) noexcept;
float fmaf(float, float, float) noexcept;
float fabsf(float) noexcept;
float fmaxf(float, float) noexcept;
float fminf(float, float) noexcept;
float copysignf(float, float) noexcept;
float ldexpf(float, int) noexcept;
double sqrt(double) noexcept;
double exp(double) noexcept;
double log(double) noexcept;
double host_pow(double, double) noexcept __asm__("pow");
double tanh(double) noexcept;
double erf(double) noexcept;
double fma(double, double, double) noexcept;
double fabs(double) noexcept;
double floor(double) noexcept;
int abs(int) noexcept;
}

// 1 to any power and anything to the power 0 are 1, also where NaNs are signalling: the host's give NaN then.
static inline float powf(float x, float y) {
    return host_powf(x != x ? __builtin_nanf("") : x, y != y ? __builtin_nanf("") : y);
}
static inline double pow(double x, double y) {
    return host_pow(x != x ? __builtin_nan("") : x, y != y ? __builtin_nan("") : y);
}
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline float __expf(float x) { return expf(x); }
static inline float __exp2f(float x) { return exp2f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __tanhf(float x) { return tanhf(x); }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
// Sums and products that are never contracted to fused ones.
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }

static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
static inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
static inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
static inline int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
static inline int __float2int_rz(float x) { return static_cast<int>(x); }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32);
}

template <class T>
constexpr bool isnan(T x) {
    return __builtin_isnan(x);
}
template <class T>
constexpr bool isinf(T x) {
    return __builtin_isinf(x);
}
template <class T>
constexpr bool isfinite(T x) {
    return __builtin_isfinite(x);
}
template <class T>
constexpr bool signbit(T x) {
    return __builtin_signbit(x);
}

#define CAIRN_MIN_MAX(type)                                          \
    static inline type min(type x, type y) { return y < x ? y : x; } \
    static inline type max(type x, type y) { return x < y ? y : x; }
CAIRN_MIN_MAX(int)
CAIRN_MIN_MAX(unsigned)
CAIRN_MIN_MAX(long)
CAIRN_MIN_MAX(unsigned long)
CAIRN_MIN_MAX(long long)
CAIRN_MIN_MAX(unsigned long long)
#undef CAIRN_MIN_MAX
static inline float min(float x, float y) { return fminf(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }

// Cache hints are ordinary accesses.
template <class T>
T __ldcg(const T* source) {
    return *source;
}
template <class T>
T __ldcs(const T* source) {
    return *source;
}
template <class T>
void __stcg(T* target, T value) {
    *target = value;
}
template <class T>
void __stcs(T* target, T value) {
    *target = value;
}
