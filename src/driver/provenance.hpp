#pragma once

#include <string>

namespace cairn::driver {

/// The provenance of a time: `measured`, `estimated`, or `expected from AMD EPYC, avx512, 2 threads`.
inline std::string time_provenance(bool measured, const std::string& expected_from) {
    if (measured) return "measured";
    return expected_from.empty() ? "estimated" : "expected from " + expected_from;
}

}  // namespace cairn::driver
