#include "device/cpu/cpu_features.hpp"

#include "graph/types/isa_levels.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace cairn::device {
namespace {

constexpr std::uint64_t saves_sse = 0x3, saves_avx = 0x7, saves_avx512 = 0xe7, saves_tiles = 0x60000;

/// Registers of CPUs as documented by their vendors; bits of real CPUs that are not read are set too.
CpuRegisters zen3() {
    return {.leaf1_ecx = 0x7ef8320b, .leaf7_ebx = 0x219c95a9, .leaf7_ecx = 0x0040069c, .xcr0 = saves_avx};
}
CpuRegisters zen5() {
    return {.leaf1_ecx = 0x7ef8320b,
            .leaf7_ebx = 0xf1bf97a9,
            .leaf7_ecx = 0x18405fce,
            .leaf7_1_eax = 0x00000030,
            .xcr0 = saves_avx512};
}
CpuRegisters skylake_x() { return {.leaf1_ecx = 0x7ffefbbf, .leaf7_ebx = 0xd39ffffb, .xcr0 = saves_avx512}; }
CpuRegisters sapphire_rapids() {
    return {.leaf1_ecx = 0x7ffefbff,
            .leaf7_ebx = 0xf3bfbfeb,
            .leaf7_ecx = 0x1b415f6e,
            .leaf7_edx = 0xbfc14410,
            .leaf7_1_eax = 0x00001c30,
            .xcr0 = saves_avx512 | saves_tiles};
}
CpuRegisters alder_lake() {
    return {.leaf1_ecx = 0x7ffafbbf,
            .leaf7_ebx = 0x239ca7eb,
            .leaf7_ecx = 0x98c027bc,
            .leaf7_edx = 0xfc18c410,
            .leaf7_1_eax = 0x00400810 | 0x10,
            .xcr0 = saves_avx};
}
CpuRegisters sandy_bridge() { return {.leaf1_ecx = 0x1fbae3bf, .xcr0 = saves_avx}; }

FeatureSet from(const char* text) { return parse_features(text).value(); }

TEST(CpuFeatures, OfSimulatedCpus) {
    EXPECT_EQ(features_of({}), FeatureSet());
    EXPECT_EQ(features_of(sandy_bridge()), FeatureSet()) << "AVX without FMA";
    EXPECT_EQ(features_of(zen3()), levels::avx2);
    EXPECT_EQ(features_of(skylake_x()), levels::avx512);
    EXPECT_EQ(features_of(zen5()), from("avx2+avx512+avx_vnni+avx512_vnni+avx512_bf16"));
    EXPECT_EQ(features_of(sapphire_rapids()),
              from("avx2+avx512+avx_vnni+avx512_vnni+avx512_bf16+avx512_fp16+amx_tile+amx_bf16+amx_int8"));
    EXPECT_EQ(features_of(alder_lake()), from("avx2+avx_vnni"));
}

TEST(CpuFeatures, RegistersThatTheSystemDoesNotSaveAreUnavailable) {
    CpuRegisters guest = sapphire_rapids();
    guest.xcr0 = saves_avx;  // a virtual machine that hides the state of AVX-512 and of tiles, but not the flags
    EXPECT_EQ(features_of(guest), from("avx2+avx_vnni"));
    for (const std::uint64_t part : {0x20U, 0x40U, 0x80U}) {
        guest.xcr0 = (saves_avx512 | saves_tiles) & ~part;
        EXPECT_EQ(features_of(guest), from("avx2+avx_vnni+amx_tile+amx_bf16+amx_int8")) << part;
    }
    for (const std::uint64_t part : {0x20000U, 0x40000U}) {
        guest.xcr0 = (saves_avx512 | saves_tiles) & ~part;
        EXPECT_EQ(features_of(guest), from("avx2+avx512+avx_vnni+avx512_vnni+avx512_bf16+avx512_fp16")) << part;
    }
    for (const std::uint64_t saved :
         {std::uint64_t{0}, std::uint64_t{1}, saves_sse, std::uint64_t{5}, std::uint64_t{0xe1}}) {
        guest.xcr0 = saved;
        EXPECT_EQ(features_of(guest), FeatureSet()) << saved;
    }
    CpuRegisters old_system = zen5();
    old_system.leaf1_ecx &= ~(1U << 27);
    EXPECT_EQ(features_of(old_system), FeatureSet()) << "no OSXSAVE: nobody knows what is saved";
}

TEST(CpuFeatures, AMissingFeatureRemovesItsDependents) {
    const auto without = [](std::uint32_t CpuRegisters::*word, int bit) {
        CpuRegisters cpu = sapphire_rapids();
        EXPECT_NE(cpu.*word >> bit & 1, 0U);
        cpu.*word &= ~(1U << bit);
        return features_of(cpu);
    };
    using R = CpuRegisters;
    const FeatureSet all = features_of(sapphire_rapids()), tiles = from("amx_tile+amx_bf16+amx_int8"),
                     wide = from("avx512+avx512_vnni+avx512_bf16+avx512_fp16");
    for (const int part : {12, 28, 29}) EXPECT_EQ(without(&R::leaf1_ecx, part), tiles) << part;
    for (const int part : {5, 8}) EXPECT_EQ(without(&R::leaf7_ebx, part), tiles) << part;
    for (const int part : {16, 17, 28, 30, 31}) EXPECT_EQ(without(&R::leaf7_ebx, part), all - wide) << part;
    EXPECT_EQ(without(&R::leaf7_ecx, 11), all - from("avx512_vnni"));
    EXPECT_EQ(without(&R::leaf7_1_eax, 4), all - from("avx_vnni"));
    EXPECT_EQ(without(&R::leaf7_1_eax, 5), all - from("avx512_bf16"));
    EXPECT_EQ(without(&R::leaf7_edx, 23), all - from("avx512_fp16"));
    EXPECT_EQ(without(&R::leaf7_edx, 22), all - from("amx_bf16"));
    EXPECT_EQ(without(&R::leaf7_edx, 25), all - from("amx_int8"));
    EXPECT_EQ(without(&R::leaf7_edx, 24), all - tiles);
}

TEST(CpuFeatures, OfThisCpuHaveTheirPrerequisites) {
    EXPECT_EQ(missing_prerequisites(detect_features()), FeatureSet());
}

#if defined(__x86_64__) && defined(__linux__)
// The system's own list of flags omits features whose registers it does not save.
TEST(CpuFeatures, MatchTheSystem) {
    std::ifstream file("/proc/cpuinfo");
    std::string line, flags;
    while (std::getline(file, line) && flags.empty()) {
        if (line.rfind("flags", 0) == 0) flags = line.substr(line.find(':') + 1) + " ";
    }
    if (flags.empty()) return;
    const auto all = [&](const std::string& names) {
        std::istringstream words(names);
        for (std::string word; words >> word;) {
            if (flags.find(" " + word + " ") == std::string::npos) return false;
        }
        return true;
    };
    const std::vector<std::pair<Feature, const char*>> rows = {
        {Feature::avx2, "avx avx2 fma f16c bmi2"},
        {Feature::avx512, "avx512f avx512bw avx512dq avx512vl avx512cd"},
        {Feature::avx_vnni, "avx_vnni"},
        {Feature::avx512_vnni, "avx512_vnni"},
        {Feature::avx512_bf16, "avx512_bf16"},
        {Feature::avx512_fp16, "avx512_fp16"},
        {Feature::amx_tile, "amx_tile"},
        {Feature::amx_bf16, "amx_bf16"},
        {Feature::amx_int8, "amx_int8"}};
    ASSERT_EQ(rows.size(), feature_count);
    FeatureSet expected;
    for (const auto& [feature, names] : rows)
        if (all(names) && expected.includes(implied_by(feature))) expected = expected | FeatureSet{feature};
    EXPECT_EQ(detect_features(), expected);
}
#endif

}  // namespace
}  // namespace cairn::device
