#pragma once

#include "apps/cli/options.hpp"
#include "cairn/compiled_graph.hpp"
#include "cairn/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cairn::cli {

/// All that a compiled graph needs to be run, without its user's program: weights of a file or made from the seed,
/// inputs made from it, sizes. Lengths of states begin at their least and are set back before each run.
class RunInputs {
public:
    /// Throws Error(argument) for a size that is none of the graph's, or is out of its bounds. Says once on standard
    /// error where weights are made from the seed.
    RunInputs(const Graph& graph, const Options& options);

    /// Binds weights, and sets sizes, inputs and states. What is set is borrowed: this must outlive the runs.
    void apply_to(CompiledGraph& model, const ProgressSink& progress, const std::stop_token& stop) const;
    /// A run from the same states as any other.
    void run(CompiledGraph& model, const std::stop_token& stop, bool profile = false) const;
    /// The median of some runs after a first one, in seconds: at least three, and as many as end within a second.
    double time(CompiledGraph& model, const std::stop_token& stop) const;

    /// The value of each symbol of the graph that a Feed would have. Throws as it does.
    static std::vector<std::pair<std::string, std::int64_t>> sizes_for(const Graph& graph, const Options& options);
    /// The value of each symbol of the graph.
    const std::vector<std::pair<std::string, std::int64_t>>& sizes() const noexcept { return sizes_; }
    /// `T = 32, past = 0`; empty where the graph has no symbols.
    std::string sizes_text() const;

private:
    RunInputs() = default;
    struct PortData {
        GraphPort port;
        std::vector<std::int64_t> shape;
        std::vector<std::byte> data;
    };
    void set_sizes(const Graph& graph, const Options& options);
    void add(const GraphPort& port, std::span<const std::int64_t> values);

    std::string weights_;
    std::uint64_t seed_ = 0;
    std::vector<GraphPort> weight_ports_;
    std::vector<std::pair<std::string, std::int64_t>> sizes_, lengths_;  // lengths: the symbols that states grow by
    std::vector<PortData> inputs_, states_;
};

}  // namespace cairn::cli
