#pragma once

#include "apps/cli/output.hpp"
#include "cairn/timing_file.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// The result of a measurement: `12.3 us`, `failed`, `> 2 s`.
std::string outcome_text(const Timing& timing);

/// Adds the result of a measurement: `cost_ns`, `reason` or `at_least_ns`, each with `prefix`.
void add_outcome(OutputRow& row, const std::string& prefix, const Timing& timing);

/// How the times of one environment apply to another, compared by their hard parts: `here` if they are valid there;
/// `here, measured with 2 threads, not 1`; `elsewhere`.
std::string environment_match_text(std::string_view hard, std::string_view this_machine);

/// Prints a line for a time, with its environment_match_text().
void put_time(Output& output, const TimingRecord& record, std::string_view this_machine);

}  // namespace cairn::cli
