#pragma once

#include "cairn/compile.hpp"
#include "cairn/context.hpp"
#include "cairn/graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Configurations in which a random graph is compiled and run.
namespace cairn::test {

/// One configuration: a Context, compile options, and the owner of the outputs.
struct OptionSet {
    std::string name;
    Context context;
    CompileOptions options;
    bool own_outputs = false;  ///< outputs are in guarded memory of the caller
};

/// The first `count` of 8 sets. `threads` is the number for sets with more than one thread. A Context is reused for
/// many graphs.
std::vector<OptionSet> option_sets(int count, int threads);
/// Two equal Contexts: one compiles and runs, the other loads.
struct ContextPair {
    std::string name;
    Context compiles, loads;
};
/// One thread, several, older instruction sets, reference kernels alone.
std::vector<ContextPair> context_pairs(int threads);
/// Random options: disabled stages, splits, a tolerance, verify.
CompileOptions random_options(const Graph& graph, std::uint64_t seed);
/// `verify, without simplify, T at 3`, for messages.
std::string text_of(const CompileOptions& options);
/// The stage that the set `one stage off` leaves out for this graph.
std::string stage_off(std::uint64_t seed);

}  // namespace cairn::test
