#pragma once

#include "tests/ir/judge.hpp"
#include "tests/long_fuzz/options.hpp"

#include <functional>

/// One random graph: its inputs, its runs, and how it is made smaller while it still shows a fault.
namespace cairn::test {

/// What a graph is run on.
struct Trial {
    std::uint64_t seed = 0;
    int sizes = 3;
    int special_in = 0;  ///< one element in so many is a special value; 0: none
};

/// The graph of a seed, with special values in half of them.
Graph fuzz_graph(std::uint64_t seed);
Trial fuzz_trial(std::uint64_t seed, int sizes);

/// Compiles and runs; the first difference from the interpreter, or an exception's text; empty when all is well. What
/// the interpreter refuses (an index out of range) is no fault.
std::string fault_of(const Graph& graph, const Trial& trial, const OptionSet& set);

/// A graph with fewer outputs and nodes that `is_faulty` still accepts: outputs are dropped, then values become inputs.
Graph shrunk(const Graph& graph, const std::function<bool(const Graph&)>& is_faulty);

}  // namespace cairn::test
