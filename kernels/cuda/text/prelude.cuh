// The part of all kernel texts that is neither plain CUDA C++ nor about one kernel: kernels use these names and contain
// no inline assembly. Kernel texts are the files of this folder, prelude.cuh first, followed by a kernel; nothing is
// included, since NVRTC has no headers. PTX instructions are excluded if CAIRN_EMULATED is defined: the emulator
// (tests/emulated_cuda/device) defines the same names for the CPU.

#ifndef CAIRN_EMULATED
#pragma nv_diag_suppress 177  // a kernel does not use all functions of these texts
#endif

/// The specifiers of a device function of these texts.
#define CAIRN_DEVICE static __device__ __forceinline__

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

/// All lanes of a warp, as a mask.
constexpr u32 all_lanes = 0xffffffffu;

/// Sum over the lanes of a full warp, in every lane; the order of additions is fixed, so all lanes have the same bits.
CAIRN_DEVICE float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(all_lanes, value, distance);
    return value;
}

/// The smallest power of 2 that is not less.
CAIRN_DEVICE constexpr int power_of_2_from(int least) {
    int power = 1;
    while (power < least) power *= 2;
    return power;
}

/// The steps of warp_scatter_sums() from `distance` on; the first `held` values are sums so far.
template <int held, int distance, int group, int count>
CAIRN_DEVICE void scatter_sums_from(float (&values)[count]) {
    if constexpr (distance >= group && held == 1) {
        values[0] += __shfl_xor_sync(all_lanes, values[0], distance);
        scatter_sums_from<1, distance / 2, group>(values);
    } else if constexpr (distance >= group) {
        const bool keeps_upper = (threadIdx.x & distance) != 0;
#pragma unroll
        for (int i = 0; i < held / 2; ++i) {
            const float sent = keeps_upper ? values[i] : values[i + held / 2];
            values[i] =
                (keeps_upper ? values[i + held / 2] : values[i]) + __shfl_xor_sync(all_lanes, sent, distance);
        }
        scatter_sums_from<held / 2, distance / 2, group>(values);
    }
}

/// Reduce-scatter of a warp. Lanes whose numbers are equal modulo `group` add their `count` values, element by element,
/// in the order of warp_sum; `group` and `count` are powers of 2. Each step sends the half of the values that the other
/// lane keeps. Afterwards values[0] up to values[max(1, count * group / 32) - 1] are sums. Returns the index of the
/// first, or -1 in lanes that hold only what a lower lane holds.
template <int count, int group = 1>
CAIRN_DEVICE int warp_scatter_sums(float (&values)[count]) {
    static_assert((count & (count - 1)) == 0 && (group & (group - 1)) == 0, "powers of 2");
    scatter_sums_from<count, 16, group>(values);
    constexpr int adding = 32 / group;  // lanes that add with one another
    const int rank = threadIdx.x % 32 / group;
    if (adding <= count) return rank * (count / adding);
    constexpr int copies = adding > count ? adding / count : 1;
    return rank % copies == 0 ? rank / copies : -1;
}

/// Maximum over the lanes of a full warp, in every lane; a NaN of any lane is the result.
CAIRN_DEVICE float warp_max(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(all_lanes, value, distance);
        value = value > other || value != value ? value : other;
    }
    return value;
}

/// The first failure of a run, in device memory; all zero before it.
struct FailureReport {
    u32 code;  // 0: none
    u32 instruction;
    u32 input;
    u32 unused;
    i64 position;
    i64 value;
};

/// Records a failure unless one is recorded: `value` at `position` of an input of an instruction. `code` is not 0.
CAIRN_DEVICE void report_failure(FailureReport* status, u32 code, u32 instruction, u32 input, i64 position, i64 value) {
    if (atomicCAS(&status->code, 0u, code) != 0u) return;
    status->instruction = instruction;
    status->input = input;
    status->position = position;
    status->value = value;
}

/// bfloat16 to f32, exact.
CAIRN_DEVICE float bf16_to_f32(u16 half) { return __uint_as_float(u32(half) << 16); }

/// Two bfloat16 to f32; x is the lower half.
CAIRN_DEVICE float2 bf16x2_to_f32(u32 pair) {
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}
