#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// What the calls of one kernel for one definition took together in the profiled run, beside what was expected times
/// ReportData::expected_scale(); the largest first.
struct KernelTime {
    std::string kernel, definition;
    int calls = 0;
    double seconds = 0, expected = 0;
    double worked = 0;  ///< by all threads together, and
    int threads = 0;    ///< how many these were; 0: not known
};
std::vector<KernelTime> kernel_times(const ReportData& study);

/// They as bars, the first dozen and the rest as one.
std::string time_chart(const ReportData& study);

}  // namespace cairn::cli
