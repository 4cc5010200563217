#pragma once

#include "cairn/kernel.hpp"
#include "fusion/match.hpp"
#include "graph/ir/graph_data.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

/// The definitions matched in these tests: the built-in ones, and a pattern for rope.
const std::vector<Definition>& definitions();

/// The simplified graph and its matches.
struct Proposed {
    std::shared_ptr<ir::GraphData> graph;
    std::vector<fusion::Match> matches;
};
Proposed proposed(const Graph& graph);

/// The match of `definition` that computes the output "y" (as its last output); null if there is none.
const fusion::Match* match_at_output(const Proposed& proposed, std::string_view definition);

/// The match that computes the output "y" and has this summary; null if there is none.
const fusion::Match* match_that_is(const Proposed& proposed, std::string_view summary);

/// The definition, `gelu`; for a fused body its steps, `fused matmul add gelu`.
std::string definition_text(const fusion::Match& match);

/// Evaluates the definition of each match and compares the results with the nodes it provides, at several sizes. Empty
/// if all agree.
std::string fault_in_matches(const Proposed& proposed, std::uint64_t seed, double tolerance = 1e-5);

/// `layer_norm eps=1e-05 (x, gamma, beta)`: the definition, its attributes and the names of its operands; %7 for an
/// operand without a name.
std::string summary(const Proposed& proposed, const fusion::Match& match);

}  // namespace cairn::test
