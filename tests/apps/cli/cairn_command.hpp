#pragma once

#include "cairn/graph.hpp"
#include "tests/examples/run_program.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// Runs the command as a process, and provides graphs for it.
namespace cairn::test {

/// Runs with one thread and estimated times, unless the arguments specify others.
Outcome cairn_command(std::vector<std::string> arguments, const RunOptions& options = {});

/// Each output line as a JSON object; the test fails if a line is not one.
std::vector<nlohmann::json> rows_of(const Outcome& outcome);
/// The rows of that `kind`.
std::vector<nlohmann::json> rows_of(const Outcome& outcome, const std::string& kind);

/// y = softmax(relu(x w + b)), x of N rows in 1..8: weights `w` f32[16,16], `b` f32[16].
std::string layer_text();
/// Rows gathered from a table by ids, appended to a state that grows by T rows per run, then summed.
std::string chosen_rows_text();

/// The line that the command prints if weights are generated from a seed.
extern const char* const seeded_weights_line;

}  // namespace cairn::test
