#pragma once

#include "cairn/features.hpp"

#include <cstdint>
#include <string>

namespace cairn::device {

/// What kind of CPU this is: with it, times measured on one machine are told from those of another. The same on every
/// call.
struct CpuInfo {
    std::string vendor;  ///< `AuthenticAMD`; empty where the CPU does not say
    std::string name;    ///< `AMD EPYC 9655`, single spaces
    int family = 0, model = 0, stepping = 0;
    std::int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< of one core's view; 0: not there or not told
    FeatureSet features;  ///< those it has, as far as the system saves their registers
};

/// Asks CPUID, and the system's files for caches CPUID is silent about.
CpuInfo cpu_info();

}  // namespace cairn::device
