#pragma once

#include "apps/cli/report_data.hpp"

#include <string>

namespace cairn::cli {

/// The profiled run as JSON for chrome://tracing and Perfetto: a track for each thread of the CPU and for each other
/// device, and an event for each instruction on each of the tracks that worked on it. Gaps are waiting times.
std::string trace_of(const ReportData& study);

}  // namespace cairn::cli
