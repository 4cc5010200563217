#pragma once

#include "cairn/features.hpp"

#include <cstdint>

namespace cairn::device {

/// The registers of CPUID and XGETBV that determine the Features; zero if the CPU has no such leaf. `leaf1_ecx` is
/// register ECX of leaf 1, `leaf7_1_eax` EAX of leaf 7's subleaf 1.
struct CpuRegisters {
    std::uint32_t leaf1_ecx = 0;
    std::uint32_t leaf7_ebx = 0, leaf7_ecx = 0, leaf7_edx = 0;
    std::uint32_t leaf7_1_eax = 0;
    std::uint64_t xcr0 = 0;  ///< register sets the operating system saves
};

/// The registers of this CPU; all 0 on other architectures than x86-64.
CpuRegisters cpu_registers() noexcept;

/// The features for which the CPU has all instruction sets, the operating system saves the registers, and all implied
/// features are present. Includes AMX if a process may use it after requesting it from the operating system.
///
///     AVX2 without FMA                                  ->  baseline
///     AVX-512 in the CPU, not saved by the system       ->  avx2
FeatureSet features_of(const CpuRegisters& registers) noexcept;

/// The features of this machine.
FeatureSet detect_features() noexcept;

}  // namespace cairn::device
