#pragma once

#include "tests/emulated_cuda/device/math.hpp"

/// The functions of kernels/cuda/text that are PTX instructions there, with the same declarations (checked by
/// wrappers_test.cpp). See there for what they do.

#define CAIRN_DEVICE static inline
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

// instructions.cuh

CAIRN_DEVICE float f16_to_f32(u16 half) {
    const u32 sign = u32(half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    if (magnitude > 0x7c00u) return __uint_as_float(0x7fffffffu);
    if (magnitude == 0x7c00u) return __uint_as_float(sign | 0x7f800000u);
    if (magnitude >= 0x0400u) return __uint_as_float(sign | ((magnitude << 13) + (112u << 23)));
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -value : value;
}
CAIRN_DEVICE u16 f32_to_f16(float value) {
    const u32 bits = __float_as_uint(value), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;
    if (magnitude >= 0x47800000u) return static_cast<u16>(sign | 0x7c00u);  // 2^16 and more
    if (magnitude < 0x38800000u) {                                          // below 2^-14: multiples of 2^-24
        const float units = rintf(__uint_as_float(magnitude) * 0x1p24f);
        return static_cast<u16>(sign | static_cast<u32>(units));
    }
    const u32 rounded = magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u);
    return static_cast<u16>(sign | (rounded >> 13));
}
CAIRN_DEVICE u16 f32_to_bf16(float value) {
    const u32 bits = __float_as_uint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<u16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
CAIRN_DEVICE float2 f16x2_to_f32(u32 pair) {
    return {f16_to_f32(static_cast<u16>(pair)), f16_to_f32(static_cast<u16>(pair >> 16))};
}
CAIRN_DEVICE u32 f32_to_f16x2(float low, float high) { return f32_to_f16(low) | u32(f32_to_f16(high)) << 16; }
CAIRN_DEVICE u32 f32_to_bf16x2(float low, float high) { return f32_to_bf16(low) | u32(f32_to_bf16(high)) << 16; }
// Of a value loaded, the compiler may read only what is used, or read it once in a loop: the load is reported here.
#define CAIRN_REPORTED __attribute__((noinline, no_sanitize("thread")))
CAIRN_REPORTED CAIRN_DEVICE uint4 load_16_bytes(const void* source) {
    cairn_emulator.access(source, 16, cairn::emulated_cuda::AccessKind::read, __builtin_return_address(0));
    return *static_cast<const uint4*>(source);
}
CAIRN_DEVICE uint4 load_16_bytes_once(const void* source) { return load_16_bytes(source); }
CAIRN_REPORTED CAIRN_DEVICE uint2 load_8_bytes(const void* source) {
    cairn_emulator.access(source, 8, cairn::emulated_cuda::AccessKind::read, __builtin_return_address(0));
    return *static_cast<const uint2*>(source);
}
CAIRN_DEVICE uint2 load_8_bytes_once(const void* source) { return load_8_bytes(source); }
CAIRN_REPORTED CAIRN_DEVICE float load_f32(const float* source) {
    cairn_emulator.access(source, 4, cairn::emulated_cuda::AccessKind::read, __builtin_return_address(0));
    return *const_cast<const volatile float*>(source);
}
CAIRN_REPORTED CAIRN_DEVICE u16 load_u16(const u16* source) {
    cairn_emulator.access(source, 2, cairn::emulated_cuda::AccessKind::read, __builtin_return_address(0));
    return *const_cast<const volatile u16*>(source);
}
#undef CAIRN_REPORTED
CAIRN_DEVICE void dependency_wait() { cairn_emulator.dependency_wait(); }
CAIRN_DEVICE void trigger_dependents() { cairn_emulator.trigger_dependents(); }
CAIRN_DEVICE void named_barrier_wait(u32 id, u32 threads, CAIRN_LINE) {
    cairn_emulator.named_barrier(id, threads, true, line);
}
CAIRN_DEVICE void named_barrier_arrive(u32 id, u32 threads, CAIRN_LINE) {
    cairn_emulator.named_barrier(id, threads, false, line);
}

// async_copy.cuh

CAIRN_DEVICE u32 shared_address(const void* pointer) { return cairn_emulator.shared_address(pointer); }
CAIRN_DEVICE void copy_16_bytes_async(void* target, const void* source, bool valid = true) {
    cairn_emulator.copy_16_bytes(target, source, valid);
}
CAIRN_DEVICE void commit_copies() { cairn_emulator.commit_copies(); }
template <int pending>
CAIRN_DEVICE void wait_copies() {
    cairn_emulator.wait_copies(pending);
}
CAIRN_DEVICE void mbarrier_init(u64* barrier, u32 arrivals) { cairn_emulator.mbarrier_init(barrier, arrivals); }
CAIRN_DEVICE void mbarrier_init_fence() { cairn_emulator.mbarrier_init_fence(); }
CAIRN_DEVICE void mbarrier_arrive(u64* barrier) { cairn_emulator.mbarrier_arrive(shared_address(barrier), 0); }
CAIRN_DEVICE void mbarrier_expect(u64* barrier, u32 bytes) {
    cairn_emulator.mbarrier_arrive(shared_address(barrier), bytes);
}
CAIRN_DEVICE void mbarrier_wait(u64* barrier, u32 parity, CAIRN_LINE) {
    cairn_emulator.mbarrier_wait(barrier, parity, line);
}
CAIRN_DEVICE void async_copy_fence() {}
CAIRN_DEVICE void copy_bulk_async(void* target, const void* source, u32 bytes, u64* barrier) {
    cairn_emulator.copy_bulk(target, source, bytes, barrier);
}
CAIRN_DEVICE void prefetch_l2(const void* source, u32 bytes) { static_cast<void>(source), static_cast<void>(bytes); }

// cluster.cuh

CAIRN_DEVICE u32 cluster_rank() { return cairn_emulator.cluster_rank(); }
CAIRN_DEVICE u32 cluster_size() { return cairn_emulator.cluster_size(); }
CAIRN_DEVICE void cluster_arrive(CAIRN_LINE) { cairn_emulator.cluster_arrive(true, line); }
CAIRN_DEVICE void cluster_arrive_relaxed(CAIRN_LINE) { cairn_emulator.cluster_arrive(false, line); }
CAIRN_DEVICE void cluster_wait(CAIRN_LINE) { cairn_emulator.cluster_wait(line); }
CAIRN_DEVICE u32 map_shared(u32 address, u32 rank) { return cairn_emulator.map_shared(address, rank); }
CAIRN_DEVICE void store_async(u32 address, float value, u32 barrier) {
    cairn_emulator.store_async(address, &value, sizeof value, barrier);
}
CAIRN_DEVICE void store_async(u32 address, float4 value, u32 barrier) {
    cairn_emulator.store_async(address, &value, sizeof value, barrier);
}
CAIRN_DEVICE void mbarrier_arrive_remote(u32 barrier) { cairn_emulator.mbarrier_arrive(barrier, 0); }
CAIRN_DEVICE void store_remote(u32 address, float value) {
    *static_cast<float*>(cairn_emulator.remote(address)) = value;
}
CAIRN_DEVICE float load_remote(u32 address) { return *static_cast<float*>(cairn_emulator.remote(address)); }

// mma.cuh

CAIRN_DEVICE void mma_f16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], CAIRN_LINE) {
    cairn::emulated_cuda::LaneFragments part{d, a, b};
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::mma_f16, 0xffffffffu, &part, line);
}
CAIRN_DEVICE void mma_bf16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], CAIRN_LINE) {
    cairn::emulated_cuda::LaneFragments part{d, a, b};
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::mma_bf16, 0xffffffffu, &part, line);
}
CAIRN_DEVICE void mma_i8(int (&d)[4], const u32 (&a)[4], const u32 (&b)[2], CAIRN_LINE) {
    cairn::emulated_cuda::LaneFragments part{d, a, b};
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::mma_i8, 0xffffffffu, &part, line);
}
CAIRN_DEVICE void mma_tf32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], CAIRN_LINE) {
    cairn::emulated_cuda::LaneFragments part{d, a, b};
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::mma_tf32, 0xffffffffu, &part, line);
}
CAIRN_DEVICE void load_matrices(u32 (&result)[4], const void* row, CAIRN_LINE) {
    cairn::emulated_cuda::LaneRow part{row, result};
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::load_matrices, 0xffffffffu, &part, line);
}
CAIRN_DEVICE void load_matrices_transposed(u32 (&result)[4], const void* row, CAIRN_LINE) {
    cairn::emulated_cuda::LaneRow part{row, result};
    cairn_emulator.warp(cairn::emulated_cuda::WarpOperation::load_matrices_transposed, 0xffffffffu, &part, line);
}

#undef CAIRN_DEVICE
