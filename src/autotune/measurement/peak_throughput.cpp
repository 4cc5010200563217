#include "autotune/measurement/peak_throughput.hpp"

#include <array>

namespace cairn::autotune {
namespace {

constexpr int chains = 12;  // independent chains, enough to hide the latency of an addition

/// Products that one chain accumulates in a round.
int products_of(Unit unit) noexcept {
    switch (unit) {
        case Unit::f32_baseline: return 4;
        case Unit::f32_avx2: return 8;
        case Unit::f32_avx512:
        case Unit::i16_avx2:
        case Unit::i16_avx_vnni: return 16;
        case Unit::f16_avx512:
        case Unit::bf16_avx512:
        case Unit::i16_avx512:
        case Unit::i16_avx512_vnni:
        case Unit::i8_avx2:
        case Unit::i8_avx_vnni: return 32;
        case Unit::i8_avx512:
        case Unit::i8_avx512_vnni: return 64;
        case Unit::bf16_amx:
        case Unit::i8_amx: return 0;
    }
    return 0;
}

#if defined(__x86_64__)

// Registers 0 to 11 are accumulators, 13 holds intermediate results, 14 and 15 are the factors; all are zero.
#define CAIRN_EACH_CHAIN(line) ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n" line "\n.endr\n"
#define CAIRN_EACH_REGISTER(line) ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" line "\n.endr\n"
#define CAIRN_ROUNDS(clear, body, leave)                                                                          \
    asm volatile(CAIRN_EACH_REGISTER(clear) "1:\n" CAIRN_EACH_CHAIN(body) "dec %0\njnz 1b\n" leave                \
                 : "+r"(rounds)                                                                                   \
                 :                                                                                                \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")
#define CAIRN_WIDE_ROUNDS(body) CAIRN_ROUNDS("vxorps %%ymm\\r, %%ymm\\r, %%ymm\\r", body, "vzeroupper")

[[gnu::always_inline]] inline void run(Unit unit, std::int64_t rounds) noexcept {
    switch (unit) {
        case Unit::f32_baseline:
            CAIRN_ROUNDS("xorps %%xmm\\r, %%xmm\\r", "mulps %%xmm14, %%xmm\\r\naddps %%xmm15, %%xmm\\r", "");
            return;
        case Unit::f32_avx2: CAIRN_WIDE_ROUNDS("vfmadd231ps %%ymm14, %%ymm15, %%ymm\\r"); return;
        case Unit::f32_avx512: CAIRN_WIDE_ROUNDS("vfmadd231ps %%zmm14, %%zmm15, %%zmm\\r"); return;
        case Unit::f16_avx512: CAIRN_WIDE_ROUNDS("vfmadd231ph %%zmm14, %%zmm15, %%zmm\\r"); return;
        case Unit::bf16_avx512: CAIRN_WIDE_ROUNDS("vdpbf16ps %%zmm14, %%zmm15, %%zmm\\r"); return;
        case Unit::i16_avx2:
            CAIRN_WIDE_ROUNDS("vpmaddwd %%ymm14, %%ymm15, %%ymm13\nvpaddd %%ymm13, %%ymm\\r, %%ymm\\r");
            return;
        case Unit::i16_avx512:
            CAIRN_WIDE_ROUNDS("vpmaddwd %%zmm14, %%zmm15, %%zmm13\nvpaddd %%zmm13, %%zmm\\r, %%zmm\\r");
            return;
        case Unit::i16_avx_vnni: CAIRN_WIDE_ROUNDS("%{vex%} vpdpwssd %%ymm14, %%ymm15, %%ymm\\r"); return;
        case Unit::i16_avx512_vnni: CAIRN_WIDE_ROUNDS("vpdpwssd %%zmm14, %%zmm15, %%zmm\\r"); return;
        case Unit::i8_avx2:
            CAIRN_WIDE_ROUNDS(
                "vpmaddubsw %%ymm14, %%ymm15, %%ymm13\nvpmaddwd %%ymm13, %%ymm14, %%ymm13\n"
                "vpaddd %%ymm13, %%ymm\\r, %%ymm\\r");
            return;
        case Unit::i8_avx512:
            CAIRN_WIDE_ROUNDS(
                "vpmaddubsw %%zmm14, %%zmm15, %%zmm13\nvpmaddwd %%zmm13, %%zmm14, %%zmm13\n"
                "vpaddd %%zmm13, %%zmm\\r, %%zmm\\r");
            return;
        case Unit::i8_avx_vnni: CAIRN_WIDE_ROUNDS("%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm\\r"); return;
        case Unit::i8_avx512_vnni: CAIRN_WIDE_ROUNDS("vpdpbusd %%zmm14, %%zmm15, %%zmm\\r"); return;
        case Unit::bf16_amx:
        case Unit::i8_amx: return;
    }
}

#undef CAIRN_WIDE_ROUNDS
#undef CAIRN_ROUNDS
#undef CAIRN_EACH_REGISTER
#undef CAIRN_EACH_CHAIN

#else

[[gnu::always_inline]] inline void run(Unit unit, std::int64_t rounds) noexcept {
    static_assert(chains > 0);
    std::array<float, chains * 64> sums{};
    volatile float factor = 0;
    const float x = factor, y = factor;
    const auto count = static_cast<std::size_t>(chains * products_of(unit));
    for (; rounds > 0; --rounds)
        for (std::size_t i = 0; i < count; ++i) sums[i] = sums[i] * x + y;
    for (const float sum : sums) factor = sum;
}

#endif

}  // namespace

double operations_per_iteration(Unit unit) noexcept { return 2.0 * chains * products_of(unit); }

void run_peak_loop(Unit unit, std::int64_t rounds) noexcept {
    if (rounds > 0) run(unit, rounds);
}

}  // namespace cairn::autotune
