#include "device/cpu/isa.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace cairn::device {
namespace {

CpuFeatures everything() {
    CpuFeatures f;
    f.osxsave = f.avx = f.avx2 = f.fma = f.f16c = f.bmi2 = true;
    f.avx512f = f.avx512bw = f.avx512dq = f.avx512vl = f.avx512cd = f.avx512vnni = f.avx512bf16 = true;
    f.xcr0 = 0xe7;
    return f;
}

TEST(Isa, LevelsAreOrdered) {
    EXPECT_LT(Isa::baseline, Isa::avx2);
    EXPECT_LT(Isa::avx2, Isa::avx512);
    EXPECT_LT(Isa::avx512, Isa::avx512_vnni_bf16);
}

TEST(Isa, EachPartMissingLowersTheLevel) {
    EXPECT_EQ(isa_of(everything()), Isa::avx512_vnni_bf16);
    EXPECT_EQ(isa_of({}), Isa::baseline);
    const auto without = [](bool CpuFeatures::*part) {
        CpuFeatures f = everything();
        f.*part = false;
        return isa_of(f);
    };
    using F = CpuFeatures;
    for (auto part : {&F::osxsave, &F::avx, &F::avx2, &F::fma, &F::f16c, &F::bmi2})
        EXPECT_EQ(without(part), Isa::baseline);
    for (auto part : {&F::avx512f, &F::avx512bw, &F::avx512dq, &F::avx512vl, &F::avx512cd})
        EXPECT_EQ(without(part), Isa::avx2);
    for (auto part : {&F::avx512vnni, &F::avx512bf16}) EXPECT_EQ(without(part), Isa::avx512);
}

TEST(Isa, TheSystemMustSaveTheRegisters) {
    CpuFeatures f = everything();
    for (const std::uint64_t xcr0 : {0x0, 0x1, 0x3, 0x5, 0xe1}) {
        f.xcr0 = xcr0;
        EXPECT_EQ(isa_of(f), Isa::baseline) << xcr0;
    }
    for (const std::uint64_t xcr0 : {0x7, 0x27, 0x67, 0xa7, 0xc7}) {
        f.xcr0 = xcr0;
        EXPECT_EQ(isa_of(f), Isa::avx2) << xcr0;
    }
}

TEST(Isa, Names) {
    EXPECT_EQ(to_string(Isa::baseline), "baseline");
    EXPECT_EQ(to_string(Isa::avx2), "avx2");
    EXPECT_EQ(to_string(Isa::avx512), "avx512");
    EXPECT_EQ(to_string(Isa::avx512_vnni_bf16), "avx512_vnni_bf16");
}

#if defined(__x86_64__) && defined(__linux__)
// The system's own list of flags leaves out what it does not save.
TEST(Isa, AgreesWithTheSystem) {
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
    Isa expected = Isa::baseline;
    if (all("avx avx2 fma f16c bmi2")) expected = Isa::avx2;
    if (expected == Isa::avx2 && all("avx512f avx512bw avx512dq avx512vl avx512cd")) expected = Isa::avx512;
    if (expected == Isa::avx512 && all("avx512_vnni avx512_bf16")) expected = Isa::avx512_vnni_bf16;
    EXPECT_EQ(detect_isa(), expected);
}
#endif

}  // namespace
}  // namespace cairn::device
