#include "device/cpu/cpu_features.hpp"

#include "graph/types/isa_levels.hpp"

#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cairn::device {
namespace {

/// Bits of the registers that must all be set.
struct FeatureBits {
    Feature feature;
    CpuRegisters all;
};

constexpr std::uint32_t bits(std::initializer_list<int> bit_numbers) {
    std::uint32_t made = 0;
    for (const int bit_number : bit_numbers) made |= std::uint32_t{1} << bit_number;
    return made;
}

// OSXSAVE, which makes XCR0 readable, and AVX.
constexpr std::uint32_t avx = bits({27, 28});
// State components: 1 and 2 vectors of 256 bits; 5 to 7 masks and vectors of 512 bits; 17 and 18 tiles.
constexpr std::uint64_t ymm = bits({1, 2}), zmm = ymm | bits({5, 6, 7}), tiles = bits({17, 18});

// Features that others imply come first.
constexpr std::array<FeatureBits, feature_count> feature_bits = {{
    {Feature::avx2, {.leaf1_ecx = avx | bits({12, 29}), .leaf7_ebx = bits({5, 8}), .xcr0 = ymm}},
    {Feature::avx512, {.leaf1_ecx = avx, .leaf7_ebx = bits({16, 17, 28, 30, 31}), .xcr0 = zmm}},
    {Feature::avx_vnni, {.leaf1_ecx = avx, .leaf7_1_eax = bits({4}), .xcr0 = ymm}},
    {Feature::avx512_vnni, {.leaf7_ecx = bits({11})}},
    {Feature::avx512_bf16, {.leaf7_1_eax = bits({5})}},
    {Feature::avx512_fp16, {.leaf7_edx = bits({23})}},
    {Feature::amx_tile, {.leaf1_ecx = bits({27}), .leaf7_edx = bits({24}), .xcr0 = tiles}},
    {Feature::amx_bf16, {.leaf7_edx = bits({22})}},
    {Feature::amx_int8, {.leaf7_edx = bits({25})}},
}};

template <typename Word>
constexpr bool has_all(Word word, Word wanted) {
    return (word & wanted) == wanted;
}

bool has_all(const CpuRegisters& registers, const CpuRegisters& wanted) noexcept {
    return has_all(registers.leaf1_ecx, wanted.leaf1_ecx) && has_all(registers.leaf7_ebx, wanted.leaf7_ebx) &&
           has_all(registers.leaf7_ecx, wanted.leaf7_ecx) && has_all(registers.leaf7_edx, wanted.leaf7_edx) &&
           has_all(registers.leaf7_1_eax, wanted.leaf7_1_eax) && has_all(registers.xcr0, wanted.xcr0);
}

#if defined(__x86_64__)

// Register XCR0. Uses inline assembly, because the intrinsic requires compiling this file for machines that have it.
std::uint64_t read_xcr0() noexcept {
    std::uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (static_cast<std::uint64_t>(high) << 32) | low;
}

#endif

}  // namespace

#if defined(__x86_64__)

CpuRegisters cpu_registers() noexcept {
    CpuRegisters result;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return result;
    result.leaf1_ecx = c;
    if (has_all(result.leaf1_ecx, bits({27}))) result.xcr0 = read_xcr0();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return result;
    result.leaf7_ebx = b;
    result.leaf7_ecx = c;
    result.leaf7_edx = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) result.leaf7_1_eax = a;
    return result;
}

#else

CpuRegisters cpu_registers() noexcept { return {}; }

#endif

FeatureSet features_of(const CpuRegisters& registers) noexcept {
    FeatureSet found;
    for (const FeatureBits& row : feature_bits)
        if (has_all(registers, row.all) && found.includes(implied_by(row.feature)))
            found = found | FeatureSet{row.feature};
    return found;
}

FeatureSet detect_features() noexcept { return features_of(cpu_registers()); }

}  // namespace cairn::device
