#pragma once

#include "cairn/graph.hpp"
#include "rewrite/alternatives/expand.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::test {

/// The lines of a graph without the header (symbols: N in 0..5, M in 1..4), expanded by the rows of one name alone:
/// the graph's lines, then the classes. Values of all spellings are compared on the way.
std::string expanded(std::string_view lines, std::string_view row);

/// Expands by all rows, or by one, and holds classes and values against what they should be.
alternatives::Expansion checked_expansion(const Graph& graph, std::string_view row = "");

/// How many spellings, but for their own, the values of a graph have by one row.
std::size_t count_of_expressions(const Graph& graph, std::string_view row);

/// What is wrong with the values of spellings at some sizes: each differs from its value by more than rounding and the
/// laws it names allow; empty when all is well.
std::string fault_in_values(const alternatives::Expansion& expansion, std::uint64_t seed, int special_in = 0);

}  // namespace cairn::test
