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

/// The inputs of a run: weights from a file or generated from the seed, generated inputs and states, sizes. Lengths of
/// states are their minimum by default and are reset before each run.
class RunInputs {
public:
    /// Throws Error(argument) for a size that the graph does not have or that is out of bounds. Prints a line on
    /// standard error if weights are generated from the seed.
    RunInputs(const Graph& graph, const Options& options);

    /// Binds weights, and sets sizes, inputs and states. The data is borrowed: this object must outlive the runs.
    void apply_to(CompiledGraph& model, const ProgressSink& progress, const std::stop_token& stop) const;
    /// Runs the graph from the initial state lengths.
    void run(CompiledGraph& model, const std::stop_token& stop, bool profile = false) const;
    /// The median time of several runs after a first one, in seconds: at least three runs, and more until a second has
    /// passed or there are 25.
    double time(CompiledGraph& model, const std::stop_token& stop) const;

    /// The value of each symbol of the graph, as in an object of this class. Throws as the constructor does.
    static std::vector<std::pair<std::string, std::int64_t>> sizes_for(const Graph& graph, const Options& options);
    /// The value of each symbol of the graph.
    const std::vector<std::pair<std::string, std::int64_t>>& sizes() const noexcept { return sizes_; }
    /// `T = 32, past = 0`; empty if the graph has no symbols.
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
