#include "graph/ir/graph_data.hpp"
#include "graph/ir/verify.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_generator.hpp"
#include "tests/long_fuzz/check.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace cairn::test {
namespace {

using Bytes = std::vector<std::byte>;
/// All outputs, and the live part of each state after the run.
using Snapshot = std::map<std::string, Bytes>;

std::int64_t count_of(std::span<const std::int64_t> shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

Bytes bytes_of(const OutputView& view) {
    const auto* data = static_cast<const std::byte*>(view.data);
    return {data, data + count_of(view.shape) * static_cast<std::int64_t>(size_of(view.dtype))};
}

/// A file that is removed with the object.
class TemporaryFile {
public:
    explicit TemporaryFile(std::uint64_t seed)
        : path_(std::filesystem::temp_directory_path() /
                ("cairn_round_trip_" + std::to_string(::getpid()) + "_" + std::to_string(seed))) {}
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// A compiled graph with weights bound, run by the public interface.
class Host {
public:
    Host(const ir::GraphData& graph, CompiledGraph model, const interpreter::Inputs& weights)
        : graph_(graph), model_(std::move(model)) {
        for (const ir::Node& node : graph.nodes())
            if (node.op == ir::Op::weight) weights_[node.name] = to_bytes(weights.tensors.at(node.name));
        model_.bind([&](std::string_view name) {
            const interpreter::Value& value = weights.tensors.at(std::string(name));
            InputView view;
            view.data = weights_.at(std::string(name)).data();
            view.dtype = value.dtype;
            view.shape = value.shape;
            return view;
        });
    }

    Snapshot run(const interpreter::Inputs& inputs) {
        inputs_.clear();
        // Sets the sizes first, since the shapes of states depend on them.
        for (const auto& [name, size] : inputs.sizes)
            if (!is_length(name)) model_.set(name, size);
        for (const ir::StateInfo& state : graph_.states()) {
            const interpreter::Value& value = inputs.tensors.at(graph_.node(state.read).name);
            // A value without elements gets one byte, so that its memory has an address.
            Bytes bytes = to_bytes(value);
            bytes.resize(bytes.size() + 1);
            model_.set_state(state.name, static_cast<const void*>(bytes.data()),
                             std::span<const std::int64_t>(value.shape));
        }
        for (const ir::Node& node : graph_.nodes())
            if (node.op == ir::Op::input) {
                const interpreter::Value& value = inputs.tensors.at(node.name);
                Bytes& bytes = inputs_[node.name] = to_bytes(value);
                bytes.resize(bytes.size() + 1);
                model_.set(node.name, static_cast<const void*>(bytes.data()),
                           std::span<const std::int64_t>(value.shape));
            }
        for (const auto& [name, size] : inputs.sizes) model_.set(name, size);
        model_.run();
        Snapshot snapshot;
        for (const ir::Output& output : graph_.outputs()) snapshot[output.name] = bytes_of(model_.output(output.name));
        for (const ir::StateInfo& state : graph_.states())
            snapshot["state " + state.name] = bytes_of(model_.state(state.name));
        return snapshot;
    }

private:
    bool is_length(const std::string& symbol) const {
        return std::any_of(graph_.states().begin(), graph_.states().end(), [&](const ir::StateInfo& state) {
            return state.grows() && state.shape[state.growing_axis()].symbol() == symbol;
        });
    }

    const ir::GraphData& graph_;
    CompiledGraph model_;
    std::map<std::string, Bytes> weights_, inputs_;
};

/// One set of sizes and inputs, with its results.
struct Step {
    interpreter::Inputs inputs;
    ReferenceResults expected;
    Snapshot before;
};

/// Steps at the largest sizes first, then the smallest, then others, so that memory is reused by smaller and by larger
/// values. All steps have the same weights.
std::vector<Step> steps_of(const ir::GraphData& graph, const Trial& trial) {
    auto all = random_sizes(graph, trial.sizes, trial.seed);
    if (all.size() > 1) std::swap(all[0], all[1]);
    std::vector<Step> steps;
    interpreter::Inputs first;
    for (const auto& sizes : all) {
        Step step;
        step.inputs = random_inputs(graph, sizes, trial.seed + 17 + steps.size(), trial.special_in);
        if (first.tensors.empty()) first = step.inputs;
        for (const ir::Node& node : graph.nodes())
            if (node.op == ir::Op::weight) step.inputs.tensors[node.name] = first.tensors.at(node.name);
        try {
            step.expected = reference_results(graph, step.inputs);
        } catch (const Error&) { continue; }
        steps.push_back(std::move(step));
    }
    return steps;
}

std::string difference_of(const Snapshot& snapshot, const ReferenceResults& expected) {
    interpreter::Results actual;
    for (const auto& [name, value] : expected.exact.outputs)
        actual.outputs[name] = from_bytes(value.dtype, value.shape, snapshot.at(name).data());
    ReferenceResults outputs_only = expected;
    outputs_only.exact.states.clear();
    return difference(actual, outputs_only);
}

std::string difference_of(const Snapshot& after, const Snapshot& before) {
    for (const auto& [name, bytes] : before)
        if (after.at(name) != bytes) return name + " has other bits than before saving";
    return {};
}

std::string text_of(const std::map<std::string, std::int64_t>& sizes) {
    std::string text;
    for (const auto& [name, size] : sizes) text += ", " + name + " = " + std::to_string(size);
    return text;
}

/// The same graph with upper bounds that are too large to enumerate, so that properties of all sizes must be proved by
/// algebra; unchanged if a size could then be negative or too large.
Graph widened(const Graph& graph) {
    const ir::GraphData& data = *graph.data();
    const auto symbols = Symbols::create();
    std::vector<Dim> replacements;
    for (const auto& symbol : data.symbols()->list()) {
        const bool is_length = std::ranges::any_of(data.states(), [&](const ir::StateInfo& state) {
            return state.grows() && state.shape[state.growing_axis()].symbol() == symbol.name;
        });
        replacements.push_back(symbols->add(symbol.name, symbol.low, is_length ? symbol.high : 40 * symbol.high + 7));
    }
    try {
        auto wide = ir::specialize(data, symbols, replacements);
        const bool may_be_negative = std::ranges::any_of(wide->nodes(), [](const ir::Node& node) {
            return std::ranges::any_of(node.shape, [](const Dim& size) { return !provably_le(0, size); });
        });
        if (!may_be_negative && ir::verify(*wide).empty()) return Graph(std::move(wide));
    } catch (const Error&) {}  // the graph remains unchanged
    return graph;
}

std::string round_trip(const Graph& graph, const Trial& trial, const ContextPair& contexts,
                       const CompileOptions& options) {
    const ir::GraphData& data = *graph.data();
    CompiledGraph model = compile(trial.seed % 2 == 0 ? graph : widened(graph), contexts.compiles, options);
    const TemporaryFile file(trial.seed);
    model.save(file.path());
    std::vector<Step> steps = steps_of(data, trial);
    if (steps.empty()) {
        CompiledGraph::load(file.path(), contexts.loads);
        return {};
    }
    const bool is_exact = options.tolerance.is_exact();
    const runtime::ProgramSet programs = runtime::parse_program_set(model.program());
    Host host(data, std::move(model), steps[0].inputs);
    for (Step& step : steps) {
        step.before = host.run(step.inputs);
        std::string fault;
        if (is_exact) fault = difference_of(step.before, step.expected);
        if (is_exact && fault.empty() && &step == &steps.back()) {
            CompiledRun poisoned(programs, contexts.compiles, step.inputs);
            fault = difference(poisoned.run(step.inputs), step.expected);
        }
        if (!fault.empty()) return fault + text_of(step.inputs.sizes);
    }
    Host loaded(data, CompiledGraph::load(file.path(), contexts.loads), steps[0].inputs);
    for (const Step& step : steps)
        if (const std::string fault = difference_of(loaded.run(step.inputs), step.before); !fault.empty())
            return fault + text_of(step.inputs.sizes);
    return {};
}

}  // namespace

std::string fault_of_round_trip(const Graph& graph, const Trial& trial, const std::vector<ContextPair>& contexts) {
    RandomGenerator random(trial.seed + 5);
    const ContextPair& pair = random.pick(contexts);
    const CompileOptions options = random_options(graph, trial.seed);
    std::string fault;
    try {
        fault = round_trip(graph, trial, pair, options);
    } catch (const std::exception& error) { fault = error.what(); }
    return fault.empty() ? fault : fault + " (" + pair.name + ", " + text_of(options) + ")";
}

}  // namespace cairn::test
