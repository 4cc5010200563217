#include "device/cpu/isa.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cairn::device {

#if defined(__x86_64__)

namespace {

// Register XCR0. Written out, because the intrinsic needs this file compiled for machines that have it.
std::uint64_t read_xcr0() noexcept {
    std::uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (static_cast<std::uint64_t>(high) << 32) | low;
}

bool bit(unsigned word, int index) noexcept { return (word >> index & 1) != 0; }

}  // namespace

CpuFeatures cpu_features() noexcept {
    CpuFeatures f;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return f;
    f.fma = bit(c, 12);
    f.osxsave = bit(c, 27);
    f.avx = bit(c, 28);
    f.f16c = bit(c, 29);
    if (f.osxsave) f.xcr0 = read_xcr0();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return f;
    f.avx2 = bit(b, 5);
    f.bmi2 = bit(b, 8);
    f.avx512f = bit(b, 16);
    f.avx512dq = bit(b, 17);
    f.avx512cd = bit(b, 28);
    f.avx512bw = bit(b, 30);
    f.avx512vl = bit(b, 31);
    f.avx512vnni = bit(c, 11);
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) f.avx512bf16 = bit(a, 5);
    return f;
}

#else

CpuFeatures cpu_features() noexcept { return {}; }

#endif

Isa isa_of(const CpuFeatures& f) noexcept {
    constexpr std::uint64_t avx_state = 0x6, avx512_state = 0xe6;
    if (!f.osxsave || (f.xcr0 & avx_state) != avx_state || !f.avx || !f.avx2 || !f.fma || !f.f16c || !f.bmi2)
        return Isa::baseline;
    if ((f.xcr0 & avx512_state) != avx512_state || !f.avx512f || !f.avx512bw || !f.avx512dq || !f.avx512vl ||
        !f.avx512cd) {
        return Isa::avx2;
    }
    return f.avx512vnni && f.avx512bf16 ? Isa::avx512_vnni_bf16 : Isa::avx512;
}

Isa detect_isa() noexcept { return isa_of(cpu_features()); }

}  // namespace cairn::device

namespace cairn::inline v0 {

std::string_view to_string(Isa isa) noexcept {
    switch (isa) {
        case Isa::avx2: return "avx2";
        case Isa::avx512: return "avx512";
        case Isa::avx512_vnni_bf16: return "avx512_vnni_bf16";
        default: return "baseline";
    }
}

}  // namespace cairn::inline v0
