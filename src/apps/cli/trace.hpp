#pragma once

#include "apps/cli/report_data.hpp"

#include <string>

namespace cairn::cli {

/// The profiled run in the JSON of chrome://tracing and Perfetto: an event for each instruction and thread that worked
/// on it. Gaps are what a thread waited.
std::string trace_of(const ReportData& study);

}  // namespace cairn::cli
