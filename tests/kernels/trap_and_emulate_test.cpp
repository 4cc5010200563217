// Tests the trap itself, on any CPU: after `ud2` it emulates instructions that the CPU may have.
#include "tests/kernels/trap_and_emulate.hpp"

#include "device/cpu/cpu_features.hpp"
#include "kernels/cpu/simd/vector/emulated_lane.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <random>

namespace cairn::test {
namespace {

namespace lane = kernels::cpu::lane;

/// 16 lanes, of which an instruction may use fewer.
using Lanes = std::array<std::int32_t, 16>;

Lanes random_lanes(std::mt19937& random) {
    Lanes lanes;
    for (std::int32_t& x : lanes) x = static_cast<std::int32_t>(random());
    return lanes;
}
Lanes random_bf16(std::mt19937& random) {
    Lanes lanes;
    for (std::int32_t& x : lanes)
        x = static_cast<std::int32_t>((random() & 0x8fff8fffu) | 0x30003000u);  // of middling size
    return lanes;
}

/// Expects `count` lanes of f, zeros up to `whole`, the rest unchanged, and one trapped instruction.
template <typename Code, typename F>
void expect_lanes(int count, int whole, const Lanes& start, const Lanes& a, const Lanes& b, Code code, F f) {
    Lanes sum = start;
    const long before = trapped_instructions();
    code(sum.data(), a.data(), b.data());
    EXPECT_EQ(trapped_instructions(), before + 1);
    for (int i = 0; i < 16; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(sum[at], i < count ? f(start[at], a[at], b[at]) : i < whole ? 0 : start[at]) << i;
    }
}

std::int32_t sum_of_bf16(std::int32_t sum, std::int32_t a, std::int32_t b) {
    return std::bit_cast<std::int32_t>(lane::dot_bf16(std::bit_cast<float>(sum), a, b));
}

class TrapAndEmulate : public testing::Test {
protected:
    void SetUp() override { trap_missing_instructions(); }
    std::mt19937 random_{1};
    Lanes sum_ = random_lanes(random_), a_ = random_lanes(random_), b_ = random_lanes(random_);
};

// Needs only 32-byte vectors of the CPU.
#define CAIRN_ON_YMM(instruction, sum, a, b)                                                                        \
    [](void* r, const void* x, const void* y) {                                                                     \
        asm volatile("vmovups (%0), %%" sum "\n vmovups (%1), %%" a "\n vmovups (%2), %%" b "\n ud2\n " instruction \
                     " %%" b ", %%" a ", %%" sum "\n vmovups %%" sum ", (%0)\n vzeroupper"                          \
                     :                                                                                              \
                     : "r"(r), "r"(x), "r"(y)                                                                       \
                     : "xmm0", "xmm1", "xmm2", "xmm8", "xmm9", "xmm15", "memory");                                  \
    }

void ymm_forms(const Lanes& sum, const Lanes& a, const Lanes& b) {
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{vex%} vpdpbusd", "ymm0", "ymm1", "ymm2"), lane::dot_u8_i8);
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{vex%} vpdpbusds", "ymm8", "ymm1", "ymm9"), lane::dot_u8_i8_saturated);
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{vex%} vpdpwssd", "ymm1", "ymm15", "ymm2"), lane::dot_i16);
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{vex%} vpdpwssds", "ymm15", "ymm8", "ymm9"), lane::dot_i16_saturated);
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{evex%} vpdpbusd", "ymm0", "ymm1", "ymm2"), lane::dot_u8_i8);
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{evex%} vpdpbusds", "ymm8", "ymm9", "ymm15"),
                 lane::dot_u8_i8_saturated);
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{evex%} vpdpwssd", "ymm15", "ymm1", "ymm2"), lane::dot_i16);
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("%{evex%} vpdpwssds", "ymm1", "ymm0", "ymm9"), lane::dot_i16_saturated);
}

void operands_in_memory(const Lanes& sum, const Lanes& a, const Lanes& b) {
    // A base, an index, and displacements of one byte and of four; EVEX scales the byte by vectors, or by lanes.
    const auto plain = [](void* r, const void* x, const void* y) {
        asm volatile(
            "vmovups (%0), %%ymm3\n vmovups (%1), %%ymm4\n ud2\n %{vex%} vpdpwssd 16(%2,%3,4), %%ymm4, %%ymm3\n"
            "vmovups %%ymm3, (%0)\n vzeroupper"
            :
            : "r"(r), "r"(x), "r"(y), "r"(-4L)
            : "xmm3", "xmm4", "memory");
    };
    expect_lanes(8, 8, sum, a, b, plain, lane::dot_i16);
    const auto far = [](void* r, const void* x, const void* y) {
        asm volatile(
            "vmovups (%0), %%ymm3\n vmovups (%1), %%ymm4\n ud2\n %{vex%} vpdpbusd 0x12345(%2), %%ymm4, %%ymm3\n"
            "vmovups %%ymm3, (%0)\n vzeroupper"
            :
            : "r"(r), "r"(x), "r"(static_cast<const char*>(y) - 0x12345)
            : "xmm3", "xmm4", "memory");
    };
    expect_lanes(8, 8, sum, a, b, far, lane::dot_u8_i8);
    const auto counted = [](void* r, const void* x, const void* y) {
        asm volatile(
            "vmovups (%0), %%ymm3\n vmovups (%1), %%ymm4\n ud2\n %{evex%} vpdpwssd 64(%2), %%ymm4, %%ymm3\n"
            "vmovups %%ymm3, (%0)\n vzeroupper"
            :
            : "r"(r), "r"(x), "r"(static_cast<const char*>(y) - 64)
            : "xmm3", "xmm4", "memory");
    };
    expect_lanes(8, 8, sum, a, b, counted, lane::dot_i16);
    const auto broadcast = [](void* r, const void* x, const void* y) {
        asm volatile(
            "vmovups (%0), %%ymm3\n vmovups (%1), %%ymm4\n ud2\n vpdpbusd 12(%2)%{1to8%}, %%ymm4, %%ymm3\n"
            "vmovups %%ymm3, (%0)\n vzeroupper"
            :
            : "r"(r), "r"(x), "r"(y)
            : "xmm3", "xmm4", "memory");
    };
    expect_lanes(8, 8, sum, a, b, broadcast, [&](auto s, auto x, auto) { return lane::dot_u8_i8(s, x, b[3]); });
}

void bf16_forms(const Lanes& sum, const Lanes& a, const Lanes& b) {
    expect_lanes(8, 8, sum, a, b, CAIRN_ON_YMM("vdpbf16ps", "ymm0", "ymm1", "ymm2"), sum_of_bf16);
    const auto narrow = [](void* r, const void* x, const void*) {
        asm volatile(
            "vmovups (%0), %%ymm8\n vmovups (%1), %%ymm9\n ud2\n vcvtneps2bf16 %%ymm9, %%xmm8\n"
            "vmovups %%ymm8, (%0)\n vzeroupper"
            :
            : "r"(r), "r"(x)
            : "xmm8", "xmm9", "memory");
    };
    Lanes halves{};
    for (std::size_t i = 0; i < 8; ++i) {
        const std::uint16_t half = lane::to_bf16(std::bit_cast<float>(a[i]));
        std::memcpy(reinterpret_cast<char*>(halves.data()) + 2 * i, &half, 2);
    }
    int next = 0;
    expect_lanes(4, 8, sum, a, b, narrow, [&](auto...) { return halves[static_cast<std::size_t>(next++)]; });
}

#define CAIRN_ON_ZMM(instruction, width, sum, a, b)                                                               \
    [](void* r, const void* x, const void* y) {                                                                   \
        asm volatile("vmovups (%0), %%zmm" sum "\n vmovups (%1), %%zmm" a "\n vmovups (%2), %%zmm" b              \
                     "\n ud2\n " instruction " %%" width b ", %%" width a ", %%" width sum "\n vmovups %%zmm" sum \
                     ", (%0)\n vzeroupper"                                                                        \
                     :                                                                                            \
                     : "r"(r), "r"(x), "r"(y)                                                                     \
                     : "xmm0", "xmm1", "xmm2", "memory");                                                         \
    }

void zmm_forms(const Lanes& sum, const Lanes& a, const Lanes& b) {
    expect_lanes(16, 16, sum, a, b, CAIRN_ON_ZMM("vpdpwssd", "zmm", "17", "30", "31"), lane::dot_i16);
    expect_lanes(16, 16, sum, a, b, CAIRN_ON_ZMM("vpdpbusd", "zmm", "2", "20", "1"), lane::dot_u8_i8);
    // A shorter vector clears the lanes beyond it.
    expect_lanes(8, 16, sum, a, b, CAIRN_ON_ZMM("%{evex%} vpdpwssds", "ymm", "0", "1", "2"), lane::dot_i16_saturated);
    expect_lanes(4, 16, sum, a, b, CAIRN_ON_ZMM("%{vex%} vpdpbusds", "xmm", "1", "2", "0"), lane::dot_u8_i8_saturated);
    expect_lanes(4, 16, sum, a, b, CAIRN_ON_ZMM("vpdpbusds", "xmm", "18", "29", "16"), lane::dot_u8_i8_saturated);
}
void zmm_bf16_forms(const Lanes& sum, const Lanes& a, const Lanes& b) {
    expect_lanes(16, 16, sum, a, b, CAIRN_ON_ZMM("vdpbf16ps", "zmm", "16", "2", "24"), sum_of_bf16);
}

// Each CPU tests the forms whose registers it has.
TEST_F(TrapAndEmulate, ComputesOnTheAvailableRegisters) {
    std::vector<void (*)(const Lanes&, const Lanes&, const Lanes&)> of_integers, of_bf16;
    if (device::detect_features().includes(levels::avx2)) {
        of_integers = {ymm_forms, operands_in_memory};
        of_bf16 = {bf16_forms};
    }
    if (device::detect_features().includes(levels::avx512)) {
        of_integers.push_back(zmm_forms);
        of_bf16.push_back(zmm_bf16_forms);
    }
    for (const auto form : of_integers) form(sum_, a_, b_);
    const Lanes sum = random_bf16(random_), a = random_bf16(random_), b = random_bf16(random_);
    for (const auto form : of_bf16) form(sum, a, b);
}

TEST_F(TrapAndEmulate, TilesMatchTheManual) {
    struct alignas(64) {
        std::uint8_t bytes[64] = {1};
    } shapes;
    for (const int tile : {1, 3, 6}) shapes.bytes[16 + 2 * tile] = 8, shapes.bytes[48 + tile] = 2;  // 2 rows of 8 bytes
    const std::int8_t a[2][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {-1, -1, -1, -1, 0, 0, 0, 100}};
    // Row k / 4, position 4 n + k % 4: the columns 0..7 of k, and all ones.
    const std::int8_t b[2][8] = {{0, 1, 2, 3, 1, 1, 1, 1}, {4, 5, 6, 7, 1, 1, 1, 1}};
    std::int32_t c[2][2] = {{1000, 0}, {0, -7}};
    const long before = trapped_instructions();
    asm volatile(
        "ud2\n ldtilecfg (%0)\n ud2\n tilezero %%tmm6\n ud2\n tileloadd (%1,%4,1), %%tmm6\n"
        "ud2\n tileloadd (%2,%4,1), %%tmm1\n ud2\n tileloaddt1 (%3,%4,1), %%tmm3\n"
        "ud2\n tdpbssd %%tmm3, %%tmm1, %%tmm6\n ud2\n tilestored %%tmm6, (%1,%4,1)\n ud2\n tilerelease"
        :
        : "r"(&shapes), "r"(c), "r"(a), "r"(b), "r"(8L)
        : "memory");
    EXPECT_EQ(trapped_instructions(), before + 8);
    EXPECT_EQ(c[0][0], 1000 + 0 + 2 + 6 + 12 + 20 + 30 + 42 + 56);
    EXPECT_EQ(c[0][1], 36);
    EXPECT_EQ(c[1][0], -6 + 700);
    EXPECT_EQ(c[1][1], -7 - 4 + 100);
}

// The trap handles only the instructions it knows: any other ends the process as without it.
TEST(TrapAndEmulateDeathTest, OtherIllegalInstructionsStayIllegal) {
    EXPECT_EXIT(
        {
            trap_missing_instructions();
            asm volatile("ud2\n nop");
        },
        testing::KilledBySignal(SIGILL), "neither the CPU's nor one that the trap knows");
}

}  // namespace
}  // namespace cairn::test
