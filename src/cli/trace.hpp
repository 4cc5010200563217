#pragma once

#include "cli/study.hpp"

#include <string>

namespace cairn::cli {

/// The profiled run in the JSON of chrome://tracing and Perfetto: an event an instruction, one behind the other.
std::string trace_of(const Study& study);

}  // namespace cairn::cli
