#include "apps/cli/host.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/subcommand.hpp"
#include "cairn/compile.hpp"
#include "cairn/ports.hpp"
#include "cairn/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace cairn::cli {
namespace {

struct RunCommand {
    Options all;
    std::string inputs, outputs;
};

/// The tensors of a file that are inputs, set; a message names all that are missing.
void set_inputs(CompiledGraph& model, const std::vector<GraphPort>& all_ports, const std::optional<Safetensors>& file) {
    std::vector<std::string> missing;
    for (const GraphPort& port : all_ports) {
        if (port.kind != GraphPort::Kind::input) continue;
        if (file.has_value() && file->contains(port.name))
            model.set(port.name, file->view(port.name));
        else
            missing.push_back(fmt::format("{} {}", port.name, to_string(port.dtype, port.shape)));
    }
    if (!missing.empty())
        throw Error(ErrorKind::argument, "run",
                    file.has_value()
                        ? fmt::format("{} has no {}", file->path().string(), fmt::join(missing, ", no "))
                        : fmt::format("--inputs is missing: the graph has the inputs {}", fmt::join(missing, ", ")));
}

int run_graph(const RunCommand& options, Output& output, const std::stop_token& stop) {
    check_can_write(options.outputs);
    const Graph graph = read_graph(options.all.graph);
    const std::vector<GraphPort> all_ports = ports(graph);
    const bool has_weights =
        std::ranges::any_of(all_ports, [](const GraphPort& port) { return port.kind == GraphPort::Kind::weight; });
    if (has_weights && options.all.weights.empty())
        throw Error(ErrorKind::argument, "run", "--weights is missing: the graph has weights");
    const Context context = make_context(options.all);
    ProgressLine progress;
    CompileOptions compile_with = compile_options(options.all);
    compile_with.progress = progress.sink();
    compile_with.stop = stop;
    CompiledGraph model = compile(graph, context, compile_with);
    if (has_weights) model.bind(Safetensors::open(options.all.weights), progress.sink(), stop);
    std::optional<Safetensors> inputs;
    if (!options.inputs.empty()) inputs = Safetensors::open(options.inputs);
    set_inputs(model, all_ports, inputs);
    for (const auto& [symbol, value] : sizes_of(options.all)) model.set(symbol, value);
    model.run({.stop = stop});
    progress.clear();
    std::vector<NamedTensor> results;
    for (const GraphPort& port : all_ports) {
        if (port.kind != GraphPort::Kind::output) continue;
        const OutputView view = model.output(port.name);
        const std::vector<std::int64_t> shape(view.shape.begin(), view.shape.end());
        output.line({{"kind", "output"}, {"name", port.name}, {"dtype", to_string(view.dtype)}, {"shape", shape}},
                    fmt::format("output  {} : {}[{}]", port.name, to_string(view.dtype), fmt::join(shape, ",")));
        results.push_back({port.name, {.data = view.data, .dtype = view.dtype, .shape = shape}});
    }
    if (!options.outputs.empty()) write_safetensors(options.outputs, results);
    return 0;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<RunCommand>();
    CLI::App& command = *app.add_subcommand("run", "run a graph once on inputs from a file");
    add_compile_options(command, options->all);
    command.add_option("--weights", options->all.weights, "a safetensors file, as import writes it")
        ->option_text("FILE");
    command.add_option("--inputs", options->inputs, "a safetensors file with a tensor for each input")
        ->option_text("FILE");
    command.add_option("--outputs", options->outputs, "a safetensors file that is written with all results")
        ->option_text("FILE");
    command.add_option("--size", options->all.sizes, "a size that the inputs do not determine")
        ->check(
            [](const std::string& text) { return size_of_text(text) ? "" : "expected a size, as T=12, got " + text; })
        ->option_text("T=12")
        ->allow_extra_args(false);
    add_machine_options(command, options->all);
    set_action(command, options, chosen, run_graph);
}

}  // namespace cairn::cli
