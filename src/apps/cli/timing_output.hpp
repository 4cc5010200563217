#pragma once

#include "apps/cli/output.hpp"
#include "cairn/timing_file.hpp"

#include <span>
#include <string>
#include <string_view>

namespace cairn::cli {

/// The result of a measurement: `12.3 us`, `failed`, `> 2 s`.
std::string outcome_text(const Timing& timing);

/// Adds the result of a measurement: `cost_ns`, `reason` or `at_least_ns`, each with `prefix`.
void add_outcome(OutputRow& row, const std::string& prefix, const Timing& timing);

/// True for the environment of times that a GPU takes part in, by its hard part.
bool is_gpu_environment(std::string_view hard);

/// How the times of one environment apply here, compared by their hard parts with those of this machine, the CPU's
/// first: `here` if they are valid; `here, measured with 2 threads, not 1`; `elsewhere`; `of a GPU` if no GPU is named,
/// so that it is unknown.
std::string environment_match_text(std::string_view hard, std::span<const TimingEnvironment> here);
/// Adds `here`: whether the times are valid, null if it is unknown.
void add_environment_match(OutputRow& row, std::string_view hard, std::span<const TimingEnvironment> here);

/// Prints a line for a time, with its environment_match_text().
void put_time(Output& output, const TimingRecord& record, std::span<const TimingEnvironment> here);

}  // namespace cairn::cli
