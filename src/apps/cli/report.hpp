#pragma once

#include "apps/cli/report_data.hpp"

#include <string>

namespace cairn::cli {

/// One page of HTML that holds all it needs, well-formed as XML: the graph as fused groups, times, memory over time,
/// the chosen way beside the runner-up, and how tuning went where there was any.
std::string report_of(const ReportData& study);

}  // namespace cairn::cli
