#pragma once

#include "apps/cli/report_data.hpp"

#include <string>
#include <vector>

namespace cairn::cli {

/// Total time of the calls of one kernel for one definition in the profiled run, and the expected time multiplied by
/// ReportData::expected_scale(); the largest first.
struct KernelTime {
    std::string kernel, definition;
    int calls = 0;
    double seconds = 0, expected = 0;
    double worked = 0;  ///< sum over all threads
    int threads = 0;    ///< number of these threads; 0: unknown
};
std::vector<KernelTime> kernel_times(const ReportData& study);

/// Bar chart of kernel_times(): the first dozen, and the rest as one bar.
std::string time_chart(const ReportData& study);

}  // namespace cairn::cli
