#pragma once

#include "tests/emulated_cuda/device/runtime_calls.hpp"

/// CUDA C++ for a host compiler: specifiers, built-in variables and functions, and vector types, as NVRTC predefines
/// them. The declarations are global, as there.

#define CAIRN_EMULATED 1
#define __global__ __attribute__((used))
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__

extern "C" {
/// Set by the emulator once the shared object is loaded. It is in the shared object, whose own data kernels may read.
/// Not inline: g++ makes inline variables unique in a process, and there is one for each module.
__attribute__((visibility("default"))) cairn::emulated_cuda::RuntimeCalls cairn_emulator = {};
}

namespace cairn::emulated_cuda {

// Constant for a thread, as `const` promises the compiler; not an access of the kernel, so without a report.
__attribute__((const, noinline, no_sanitize("thread"))) inline Triple thread_index() {
    return cairn_emulator.position()->thread;
}
__attribute__((const, noinline, no_sanitize("thread"))) inline Triple block_index() {
    return cairn_emulator.position()->block;
}
__attribute__((const, noinline, no_sanitize("thread"))) inline Triple block_size() {
    return cairn_emulator.position()->block_size;
}
__attribute__((const, noinline, no_sanitize("thread"))) inline Triple grid_size() {
    return cairn_emulator.position()->grid;
}

}  // namespace cairn::emulated_cuda

using uint3 = cairn::emulated_cuda::Triple;
using dim3 = cairn::emulated_cuda::Triple;
#define threadIdx (cairn::emulated_cuda::thread_index())
#define blockIdx (cairn::emulated_cuda::block_index())
#define blockDim (cairn::emulated_cuda::block_size())
#define gridDim (cairn::emulated_cuda::grid_size())
constexpr int warpSize = 32;

#define CAIRN_VECTOR_TYPES(type, name)                                                 \
    struct __align__(sizeof(type) * 2) name##2 {                                       \
        type x, y;                                                                     \
    };                                                                                 \
    struct name##3 {                                                                   \
        type x, y, z;                                                                  \
    };                                                                                 \
    struct __align__(sizeof(type) * 4) name##4 {                                       \
        type x, y, z, w;                                                               \
    };                                                                                 \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
    static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
CAIRN_VECTOR_TYPES(float, float)
CAIRN_VECTOR_TYPES(int, int)
CAIRN_VECTOR_TYPES(short, short)
CAIRN_VECTOR_TYPES(unsigned short, ushort)
CAIRN_VECTOR_TYPES(signed char, char)
CAIRN_VECTOR_TYPES(unsigned char, uchar)
#undef CAIRN_VECTOR_TYPES
struct __align__(8) uint2 {
    unsigned x, y;
};
struct __align__(16) uint4 {
    unsigned x, y, z, w;
};
struct __align__(16) double2 {
    double x, y;
};
struct __align__(16) longlong2 {
    long long x, y;
};
struct __align__(16) ulonglong2 {
    unsigned long long x, y;
};
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

using size_t = decltype(sizeof 0);

namespace cairn::emulated_cuda {

/// The variable of this block with a key, which is one for each declaration.
template <class T>
T& shared_variable(const void* key, const char* name, size_t alignment) {
    return *static_cast<T*>(cairn_emulator.shared_variable(key, name, sizeof(T), alignment));
}

template <class T>
T* dynamic_shared() {
    return static_cast<T*>(cairn_emulator.dynamic_shared());
}

template <class To, class From>
To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}

template <class T>
unsigned long long widened(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    if constexpr (sizeof(T) == 4)
        return same_bits<unsigned>(value);
    else
        return same_bits<unsigned long long>(value);
}

template <class T>
T narrowed(unsigned long long bits) {
    if constexpr (sizeof(T) == 4)
        return same_bits<T>(static_cast<unsigned>(bits));
    else
        return same_bits<T>(bits);
}

inline int lane() {
    const Triple at = thread_index(), size = block_size();
    return static_cast<int>((at.x + size.x * (at.y + size.y * at.z)) % 32);
}

template <class T>
T shuffle(unsigned mask, T value, int source, int line) {
    LaneExchange exchange{widened(value), source, 0};
    cairn_emulator.warp(WarpOperation::shuffle, mask, &exchange, line);
    return narrowed<T>(exchange.result);
}

/// The first lane of this lane's segment of `width` lanes.
inline int segment(int width) { return lane() & ~(width - 1); }

// Reports one atomic access in place of a read and a write.
template <class T, class Change>
__attribute__((noinline, no_sanitize("thread"))) T change_atomically(T* address, Change change) {
    cairn_emulator.access(address, sizeof(T), AccessKind::write | AccessKind::atomic, __builtin_return_address(0));
    const T old = *const_cast<volatile T*>(address);
    *const_cast<volatile T*>(address) = change(old);
    return old;
}

}  // namespace cairn::emulated_cuda

#define CAIRN_LINE int line = __builtin_LINE()

static inline void __syncthreads(CAIRN_LINE) {
    cairn_emulator.block_barrier(cairn::emulated_cuda::BarrierResult::none, 0, line);
}
static inline int __syncthreads_or(int predicate, CAIRN_LINE) {
    return cairn_emulator.block_barrier(cairn::emulated_cuda::BarrierResult::any, predicate, line);
}
static inline int __syncthreads_and(int predicate, CAIRN_LINE) {
    return cairn_emulator.block_barrier(cairn::emulated_cuda::BarrierResult::all, predicate, line);
}
static inline int __syncthreads_count(int predicate, CAIRN_LINE) {
    return cairn_emulator.block_barrier(cairn::emulated_cuda::BarrierResult::count, predicate, line);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, CAIRN_LINE) {
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::synchronize, mask, nullptr, line);
}
static inline void __threadfence() { cairn_emulator.memory_fence(); }
static inline void __threadfence_block() {}
[[noreturn]] static inline void __trap() {
    cairn_emulator.trap("__trap()");
    __builtin_unreachable();
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, CAIRN_LINE) {
    using namespace cairn::emulated_cuda;
    return shuffle(mask, value, segment(width) + (source & (width - 1)), line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance, int width = 32, CAIRN_LINE) {
    using namespace cairn::emulated_cuda;
    const int source = lane() ^ distance;
    return shuffle(mask, value, source >= segment(width) + width ? lane() : source, line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32, CAIRN_LINE) {
    using namespace cairn::emulated_cuda;
    const int source = lane() - static_cast<int>(distance);
    return shuffle(mask, value, source < segment(width) ? lane() : source, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32, CAIRN_LINE) {
    using namespace cairn::emulated_cuda;
    const int source = lane() + static_cast<int>(distance);
    return shuffle(mask, value, source >= segment(width) + width ? lane() : source, line);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate, CAIRN_LINE) {
    cairn::emulated_cuda::LaneExchange exchange{predicate != 0 ? 1u : 0u, 0, 0};
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::ballot, mask, &exchange, line);
    return static_cast<unsigned>(exchange.result);
}
static inline int __any_sync(unsigned mask, int predicate, CAIRN_LINE) {
    return __ballot_sync(mask, predicate, line) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, CAIRN_LINE) {
    return __ballot_sync(mask, predicate, line) == mask;
}

template <class T>
T atomicAdd(T* address, T value) {
    return cairn::emulated_cuda::change_atomically(address, [=](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMax(T* address, T value) {
    return cairn::emulated_cuda::change_atomically(address, [=](T old) { return old > value ? old : value; });
}
template <class T>
T atomicMin(T* address, T value) {
    return cairn::emulated_cuda::change_atomically(address, [=](T old) { return old < value ? old : value; });
}
template <class T>
T atomicOr(T* address, T value) {
    return cairn::emulated_cuda::change_atomically(address, [=](T old) { return static_cast<T>(old | value); });
}
template <class T>
T atomicExch(T* address, T value) {
    return cairn::emulated_cuda::change_atomically(address, [=](T) { return value; });
}
template <class T>
T atomicCAS(T* address, T expected, T value) {
    return cairn::emulated_cuda::change_atomically(address, [=](T old) { return old == expected ? value : old; });
}
/// CUDA's counter that returns to 0 after `last`.
static inline unsigned atomicInc(unsigned* address, unsigned last) {
    return cairn::emulated_cuda::change_atomically(address, [=](unsigned old) { return old >= last ? 0u : old + 1; });
}
