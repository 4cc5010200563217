#pragma once

#include "cairn/graph.hpp"
#include "rewrite/alternatives/expand.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::test {

/// Expands a graph, given by its lines without the header (symbols: N in 0..5, M in 1..4), by the rules of one name
/// only. Returns the lines of the expanded graph, then the classes. Also compares the values of all expressions.
std::string expanded(std::string_view lines, std::string_view row);

/// Expands by all rules, or by those of one name, and checks the classes and the values.
alternatives::Expansion checked_expansion(const Graph& graph, std::string_view row = "");

/// The number of further expressions of the values of a graph by the rules of one name.
std::size_t count_of_expressions(const Graph& graph, std::string_view row);

/// The first fault in the values of expressions at some sizes: one differs from its value by more than rounding and its
/// laws allow. Empty if there is none.
std::string fault_in_values(const alternatives::Expansion& expansion, std::uint64_t seed, int special_in = 0);

}  // namespace cairn::test
