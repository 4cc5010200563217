// Single instructions of any kernel: conversions, loads with hints, barriers of a part of a block, and the order of
// dependent launches.
#ifndef CAIRN_EMULATED

/// IEEE 754 binary16 to f32, exact; a NaN stays a NaN.
CAIRN_DEVICE float f16_to_f32(u16 half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}

/// f32 to IEEE 754 binary16, rounded to nearest, ties to even; a NaN becomes 0x7fff.
CAIRN_DEVICE u16 f32_to_f16(float value) {
    u16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

/// f32 to bfloat16, rounded to nearest, ties to even; a NaN becomes 0x7fff.
CAIRN_DEVICE u16 f32_to_bf16(float value) {
    u16 half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}

/// Two binary16 to f32; x is the lower half.
CAIRN_DEVICE float2 f16x2_to_f32(u32 pair) {
    float2 values;
    asm("{\n\t.reg .f16 low, high;\n\tmov.b32 {low, high}, %2;\n\tcvt.f32.f16 %0, low;\n\tcvt.f32.f16 %1, high;\n\t}"
        : "=f"(values.x), "=f"(values.y)
        : "r"(pair));
    return values;
}

/// Two f32 to binary16, as f32_to_f16; `low` becomes the lower half.
CAIRN_DEVICE u32 f32_to_f16x2(float low, float high) {
    u32 pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/// Two f32 to bfloat16, as f32_to_bf16; `low` becomes the lower half.
CAIRN_DEVICE u32 f32_to_bf16x2(float low, float high) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// Loads are volatile and never non-coherent (ld.global.nc): ptxas moves non-coherent loads below a dependency wait.

/// Loads 16 bytes of global memory, in program order.
CAIRN_DEVICE uint4 load_16_bytes(const void* source) {
    uint4 value;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(__cvta_generic_to_global(source))
                 : "memory");
    return value;
}

/// Loads 16 bytes of global memory that this block reads once: they do not displace other data in the L1 cache.
CAIRN_DEVICE uint4 load_16_bytes_once(const void* source) {
    uint4 value;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(__cvta_generic_to_global(source))
                 : "memory");
    return value;
}

/// Loads 8 bytes of global memory, in program order.
CAIRN_DEVICE uint2 load_8_bytes(const void* source) {
    uint2 value;
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(value.x), "=r"(value.y)
                 : "l"(__cvta_generic_to_global(source))
                 : "memory");
    return value;
}

/// Loads 8 bytes as load_16_bytes_once().
CAIRN_DEVICE uint2 load_8_bytes_once(const void* source) {
    uint2 value;
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                 : "=r"(value.x), "=r"(value.y)
                 : "l"(__cvta_generic_to_global(source))
                 : "memory");
    return value;
}

/// Loads one f32 of global memory, in program order.
CAIRN_DEVICE float load_f32(const float* source) {
    float value;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(__cvta_generic_to_global(source)) : "memory");
    return value;
}

/// Loads 16 bits of global memory, in program order.
CAIRN_DEVICE u16 load_u16(const u16* source) {
    u16 value;
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(value) : "l"(__cvta_generic_to_global(source)) : "memory");
    return value;
}

/// Waits until the kernels that this launch depends on have finished and their writes are visible. What they write must
/// not be read before, what they read must not be written before. No effect below sm_90.
CAIRN_DEVICE void dependency_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Permits dependent kernels to start once every block has called this or finished. No effect below sm_90.
CAIRN_DEVICE void trigger_dependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits at named barrier `id` (1 to 15) until `threads` threads, a multiple of 32, have waited or arrived at it.
CAIRN_DEVICE void named_barrier_wait(u32 id, u32 threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives at named barrier `id` without waiting.
CAIRN_DEVICE void named_barrier_arrive(u32 id, u32 threads) {
    asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#endif
