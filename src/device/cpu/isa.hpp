#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>

namespace cairn::device {

/// What the CPU and the operating system say they can do: the bits that the levels of Isa are made of.
struct CpuFeatures {
    bool osxsave = false;
    std::uint64_t xcr0 = 0;  ///< register sets the operating system saves: 0x6 AVX, 0xe0 AVX-512
    bool avx = false, avx2 = false, fma = false, f16c = false, bmi2 = false;
    bool avx512f = false, avx512bw = false, avx512dq = false, avx512vl = false, avx512cd = false;
    bool avx512vnni = false, avx512bf16 = false;
};

/// Asks CPUID and XGETBV; all false on other than x86-64.
CpuFeatures cpu_features() noexcept;

/// The highest level all of whose parts, and all of the levels before, are there.
///
///     AVX2 without FMA                                  ->  baseline
///     AVX-512 in the CPU, not saved by the system       ->  avx2
Isa isa_of(const CpuFeatures& features) noexcept;

/// The level of this machine.
Isa detect_isa() noexcept;

}  // namespace cairn::device
