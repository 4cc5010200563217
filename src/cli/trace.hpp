#pragma once

#include "cli/study.hpp"

#include <string>

namespace cairn::cli {

/// The profiled run in the JSON of chrome://tracing and Perfetto: an event for each instruction and thread that worked on
/// it. Gaps are what a thread waited.
std::string trace_of(const Study& study);

}  // namespace cairn::cli
