#pragma once

#include "apps/cli/report_data.hpp"

#include <string>

namespace cairn::cli {

/// The profiled run as JSON for chrome://tracing and Perfetto: an event for each instruction and each thread that
/// worked on it. Gaps are waiting times.
std::string trace_of(const ReportData& study);

}  // namespace cairn::cli
