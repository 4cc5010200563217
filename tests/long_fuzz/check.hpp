#pragma once

#include "tests/graph/ir/reference_results.hpp"
#include "tests/long_fuzz/options.hpp"

#include <functional>

/// One random graph: its inputs, its runs, and its reduction to a smaller graph that still shows a fault.
namespace cairn::test {

/// Parameters of the runs of a graph.
struct Trial {
    std::uint64_t seed = 0;
    int sizes = 3;
    int special_in = 0;  ///< one element in `special_in` is a special value; 0: none
};

/// The graph and the trial of a seed; half of the trials have special values. Two thirds of the graphs of
/// `round_trip_graph` may contain convolutions, pooling and sizes that are polynomials of symbols.
Graph fuzz_graph(std::uint64_t seed);
Graph round_trip_graph(std::uint64_t seed);
Trial fuzz_trial(std::uint64_t seed, int sizes);

/// Compiles and runs. Returns the first difference from the interpreter, or an exception's text; empty if there is
/// none. Inputs that the interpreter rejects (an index out of range) are skipped.
std::string fault_of(const Graph& graph, const Trial& trial, const OptionSet& set);

/// Compiles with options drawn by the trial's seed, runs one instance at sizes that shrink and grow, saves, loads in
/// another Context and runs again. Returns the first difference from the interpreter, or of the loaded graph's results
/// from those before saving, bit by bit, or an exception's text; empty if there is none.
std::string fault_of_round_trip(const Graph& graph, const Trial& trial, const std::vector<ContextPair>& contexts);

/// A graph with fewer outputs and nodes that `is_faulty` still accepts: outputs are dropped, then values become inputs.
Graph shrunk(const Graph& graph, const std::function<bool(const Graph&)>& is_faulty);

}  // namespace cairn::test
