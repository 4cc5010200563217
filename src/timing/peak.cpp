#include "timing/peak.hpp"

#include <array>

namespace cairn::inline v0::timing {
namespace {

constexpr int chains = 12;  // cover the latency of an addition

int lanes_of(Isa level) { return level == Isa::baseline ? 4 : level == Isa::avx2 ? 8 : 16; }

#if defined(__x86_64__)

// Twelve registers are added to, registers 14 and 15 are the factors; all are zero.
#define CAIRN_EACH_CHAIN(line) ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n" line "\n.endr\n"
#define CAIRN_EACH_REGISTER(line) ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" line "\n.endr\n"
#define CAIRN_ROUNDS(clear, body, leave)                                                                          \
    asm volatile(CAIRN_EACH_REGISTER(clear) "1:\n" CAIRN_EACH_CHAIN(body) "dec %0\njnz 1b\n" leave                \
                 : "+r"(rounds)                                                                                   \
                 :                                                                                                \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

[[gnu::always_inline]] inline void run(Isa level, std::int64_t rounds) noexcept {
    if (level == Isa::baseline)
        CAIRN_ROUNDS("xorps %%xmm\\r, %%xmm\\r", "mulps %%xmm14, %%xmm\\r\naddps %%xmm15, %%xmm\\r", "");
    else if (level == Isa::avx2)
        CAIRN_ROUNDS("vxorps %%ymm\\r, %%ymm\\r, %%ymm\\r", "vfmadd231ps %%ymm14, %%ymm15, %%ymm\\r", "vzeroupper");
    else
        CAIRN_ROUNDS("vxorps %%ymm\\r, %%ymm\\r, %%ymm\\r", "vfmadd231ps %%zmm14, %%zmm15, %%zmm\\r", "vzeroupper");
}

#undef CAIRN_ROUNDS
#undef CAIRN_EACH_REGISTER
#undef CAIRN_EACH_CHAIN

#else

[[gnu::always_inline]] inline void run(Isa level, std::int64_t rounds) noexcept {
    static_assert(chains > 0);
    std::array<float, chains * 16> sums{};
    volatile float factor = 0;
    const float x = factor, y = factor;
    const auto count = static_cast<std::size_t>(chains * lanes_of(level));
    for (; rounds > 0; --rounds)
        for (std::size_t i = 0; i < count; ++i) sums[i] = sums[i] * x + y;
    for (const float sum : sums) factor = sum;
}

#endif

}  // namespace

double operations_of_round(Isa level) noexcept { return 2.0 * chains * lanes_of(level); }

void multiply_add(Isa level, std::int64_t rounds) noexcept {
    if (rounds > 0) run(level, rounds);
}

}  // namespace cairn::inline v0::timing
