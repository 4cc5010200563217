#pragma once

#include "apps/cli/report_data.hpp"

#include <string>

namespace cairn::cli {

/// A self-contained HTML page, well-formed as XML: the fused groups of the graph, times, memory over time, the selected
/// path beside the runner-up, and the progress of tuning, if any.
std::string report_of(const ReportData& study);

}  // namespace cairn::cli
