#pragma once

#include "cairn/compile.hpp"
#include "cairn/context.hpp"
#include "cairn/graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The ways in which a random graph is compiled and run.
namespace cairn::test {

/// One way: a Context, compile options, and who owns the outputs.
struct OptionSet {
    std::string name;
    Context context;
    CompileOptions options;
    bool own_outputs = false;  ///< the caller's memory, guarded
};

/// The first `count` of 8 sets. `threads` are those of the sets with more than one. A Context is made once for many
/// graphs.
std::vector<OptionSet> option_sets(int count, int threads);
/// Two Contexts made alike: one compiles and runs, the other loads.
struct ContextPair {
    std::string name;
    Context compiles, loads;
};
/// One thread, several, older instruction sets, reference kernels alone.
std::vector<ContextPair> context_pairs(int threads);
/// Stages left out, splits, a tolerance, verify: each now and then.
CompileOptions random_options(const Graph& graph, std::uint64_t seed);
/// `verify, without simplify, T at 3`, for messages.
std::string text_of(const CompileOptions& options);
/// The stage that the set `one stage off` leaves out for this graph.
std::string stage_off(std::uint64_t seed);

}  // namespace cairn::test
