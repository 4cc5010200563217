#pragma once

#include "cairn/graph.hpp"
#include "tests/examples/run_program.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// The command as a process, and graphs for it.
namespace cairn::test {

/// On one thread and from estimates, unless the arguments say otherwise.
Outcome cairn_command(std::vector<std::string> arguments, const RunOptions& options = {});

/// Each line of its output as an object; a failure of the test where one is none.
std::vector<nlohmann::json> rows_of(const Outcome& outcome);
/// Those with that `kind`.
std::vector<nlohmann::json> rows_of(const Outcome& outcome, const std::string& kind);

/// y = softmax(relu(x w + b)), x of N rows in 1..8: weights `w` f32[16,16], `b` f32[16].
std::string layer_text();
/// Rows of a table chosen by ids, kept in a state that grows by T of them a run, then summed.
std::string chosen_rows_text();

/// What the command says where weights are made from a seed.
extern const char* const seeded_weights_line;

}  // namespace cairn::test
