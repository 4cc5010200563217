#pragma once

#include "cairn/timing_file.hpp"
#include "cli/output.hpp"

#include <string>

namespace cairn::cli {

/// What a measurement came to: `12.3 us`, `failed`, `> 2 s`.
std::string outcome_text(const Timing& timing);

/// Adds what a measurement came to: `cost_ns`, `reason` or `at_least_ns`, each behind `prefix`.
void add_outcome(Row& row, const std::string& prefix, const Timing& timing);

/// A line for a time; `is_here` where it is of this machine.
void put_time(Output& output, const TimingRecord& record, bool is_here);

}  // namespace cairn::cli
