#include "tests/long_fuzz/check.hpp"

#include "tests/driver/compiled_run.hpp"

#include <algorithm>
#include <cstring>

namespace cairn::test {
namespace {

constexpr std::size_t guard = 64;
constexpr std::byte canary{0xa5};

/// A caller's memory, with guards around it.
class GuardedBytes {
public:
    explicit GuardedBytes(std::size_t size) : bytes_(size + 2 * guard, canary) {}
    std::byte* data() noexcept { return bytes_.data() + guard; }
    std::size_t size() const noexcept { return bytes_.size() - 2 * guard; }
    bool is_intact() const noexcept {
        const auto is_canary = [](std::byte byte) { return byte == canary; };
        return std::all_of(bytes_.begin(), bytes_.begin() + guard, is_canary) &&
               std::all_of(bytes_.end() - guard, bytes_.end(), is_canary);
    }

private:
    std::vector<std::byte> bytes_;
};

// Through the public interface, like a host program.
std::string run_with_own_outputs(const Graph& graph, CompiledGraph& model, const interpreter::Inputs& inputs,
                                 const ReferenceResults& expected) {
    std::map<std::string, std::vector<std::byte>> bytes;
    for (const auto& [name, value] : inputs.tensors) bytes[name] = to_bytes(value);
    for (const ir::Node& node : graph.data()->nodes())
        if (node.op == ir::Op::input) {
            const interpreter::Value& value = inputs.tensors.at(node.name);
            model.set(node.name, bytes.at(node.name).data(), std::span<const std::int64_t>(value.shape));
        }
    for (const auto& [name, size] : inputs.sizes) model.set(name, size);
    std::map<std::string, GuardedBytes> outputs;
    for (const auto& [name, value] : expected.exact.outputs) {
        GuardedBytes& own = outputs.emplace(name, value.size() * size_of(value.dtype)).first->second;
        model.set_output(name, own.data(), own.size());
    }
    model.run();
    interpreter::Results actual;
    for (const auto& [name, value] : expected.exact.outputs) {
        GuardedBytes& own = outputs.at(name);
        if (!own.is_intact()) return name + ": memory beside the output is overwritten";
        actual.outputs[name] = from_bytes(value.dtype, value.shape, own.data());
    }
    ReferenceResults outputs_only = expected;
    outputs_only.exact.states.clear();
    return difference(actual, outputs_only);
}

void bind_weights(const Graph& graph, CompiledGraph& model, const interpreter::Inputs& inputs,
                  std::map<std::string, std::vector<std::byte>>& bytes) {
    for (const ir::Node& node : graph.data()->nodes())
        if (node.op == ir::Op::weight) bytes[node.name] = to_bytes(inputs.tensors.at(node.name));
    model.bind([&](std::string_view name) {
        const interpreter::Value& value = inputs.tensors.at(std::string(name));
        InputView view;
        view.data = bytes.at(std::string(name)).data();
        view.dtype = value.dtype;
        view.shape = value.shape;
        return view;
    });
}

/// Describes a fault of the initial contents of a new model's states.
std::string fault_of_new_states(const ir::GraphData& graph, const CompiledGraph& model) {
    for (const ir::StateInfo& state : graph.states()) {
        const ir::Node& read = graph.node(state.read);
        if (read.values == nullptr) continue;
        const OutputView view = model.state(state.name);
        const std::vector<std::int64_t> shape(view.shape.begin(), view.shape.end());
        const interpreter::Value held = from_bytes(view.dtype, shape, static_cast<const std::byte*>(view.data));
        const std::string fault = difference(held, interpreter::make_value(read.dtype, shape, *read.values), 0);
        if (!fault.empty()) return state.name + " begins with " + fault;
    }
    return {};
}

std::string compared(const Graph& graph, const Trial& trial, const OptionSet& set) {
    CompileOptions options = set.options;
    if (set.name == "one stage off") options.disable = {stage_off(trial.seed)};
    CompiledGraph model = compile(graph, set.context, options);
    if (const std::string fault = fault_of_new_states(*graph.data(), model); !fault.empty()) return fault;
    const runtime::ProgramSet programs = runtime::parse_program_set(model.program());
    // Graphs with states are run by CompiledRun, which also sets the contents of states and compares them.
    const bool own = set.own_outputs && graph.data()->states().empty();
    for (const auto& sizes : random_sizes(*graph.data(), trial.sizes, trial.seed)) {
        const interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, trial.seed + 17, trial.special_in);
        ReferenceResults expected;
        try {
            expected = reference_results(*graph.data(), inputs);
        } catch (const Error&) { continue; }
        std::string fault;
        if (own) {
            CompiledGraph instance = compile(graph, set.context, options);
            std::map<std::string, std::vector<std::byte>> weights;
            bind_weights(graph, instance, inputs, weights);
            fault = run_with_own_outputs(graph, instance, inputs, expected);
        } else {
            fault = difference(CompiledRun(programs, set.context, inputs).run(inputs), expected);
        }
        if (fault.empty()) continue;
        for (const auto& [name, size] : sizes) fault += ", " + name + " = " + std::to_string(size);
        return fault;
    }
    return {};
}

RandomGraphOptions graph_options(std::uint64_t seed) {
    RandomGraphOptions options;
    options.edge_values = seed % 4 != 0;
    options.steps = 6 + static_cast<int>(seed % 31);
    if (seed % 11 == 5) options.dtype = DType::f64;
    if (seed % 7 == 3) options.dtype = DType::f16;
    if (seed % 7 == 5) options.dtype = DType::bf16;
    return options;
}

}  // namespace

Graph fuzz_graph(std::uint64_t seed) { return random_graph(seed, graph_options(seed)); }

Graph round_trip_graph(std::uint64_t seed) {
    RandomGraphOptions options = graph_options(seed);
    options.spatial = seed % 3 != 0;
    options.steps = 3 + static_cast<int>(seed % 23);
    return random_graph(seed, options);
}

Trial fuzz_trial(std::uint64_t seed, int sizes) { return {seed, sizes, seed % 2 == 0 ? 0 : 30}; }

std::string fault_of(const Graph& graph, const Trial& trial, const OptionSet& set) {
    try {
        return compared(graph, trial, set);
    } catch (const std::exception& error) { return error.what(); }
}

}  // namespace cairn::test
