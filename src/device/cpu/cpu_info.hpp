#pragma once

#include "cairn/features.hpp"

#include <cstdint>
#include <string>

namespace cairn::device {

/// Identity and caches of this CPU: it distinguishes times measured on different machines. The same on every call.
struct CpuInfo {
    std::string vendor;  ///< `AuthenticAMD`; empty if the CPU does not report it
    std::string name;    ///< `AMD EPYC 9655`, single spaces
    int family = 0, model = 0, stepping = 0;
    std::int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< as seen by one core; 0: absent or not reported
    FeatureSet features;                                     ///< those of the CPU whose registers the system saves
};

/// Reads CPUID, and the system's files for caches that CPUID does not report.
CpuInfo cpu_info();

}  // namespace cairn::device
