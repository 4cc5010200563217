#include "cairn/onnx/import.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/import_options.hpp"
#include "apps/cli/subcommand.hpp"
#include "cairn/ports.hpp"
#include "cairn/weights.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace cairn::cli {
namespace {

struct ImportCommand {
    Options all;
    ImportTexts texts;
    std::string file, output;
};

void put_port(const GraphPort& port, Output& output) {
    const char* const kind = port.kind == GraphPort::Kind::input ? "input" : "output";
    const std::string type = to_string(port.dtype, port.shape);
    output.line({{"kind", kind}, {"name", port.name}, {"type", type}},
                fmt::format("{:<7} {} : {}", kind, port.name, type));
}

void put_unsupported(const onnx::ImportError& error, Output& output) {
    for (const onnx::Unsupported& each : error.unsupported()) {
        const std::string op = (each.domain.empty() ? "" : each.domain + ".") + each.op;
        const std::string what =
            each.op.empty() ? each.node : fmt::format("{}-{} {} ({})", op, each.opset, each.node, each.count);
        output.line({{"kind", "unsupported"},
                     {"op", each.op},
                     {"domain", each.domain},
                     {"opset", std::to_string(each.opset)},
                     {"node", each.node},
                     {"count", std::to_string(each.count)},
                     {"reason", each.reason}},
                    fmt::format("no      {}: {}", what, each.reason));
    }
}

/// Writes `graph.cairn` and `weights.safetensors` into a folder.
void write_files(const onnx::Imported& imported, const std::filesystem::path& folder) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        throw Error(ErrorKind::file, "import",
                    fmt::format("{}: cannot make the folder: {}", folder.string(), fault.message()));
    std::vector<NamedTensor> tensors;
    for (const GraphPort& port : ports(imported.graph))
        if (port.kind == GraphPort::Kind::weight) tensors.push_back({port.name, imported.weights(port.name)});
    write_safetensors(folder / "weights.safetensors", tensors);
    write_text((folder / "graph.cairn").string(), to_string(imported.graph));
}

int import_file(const ImportCommand& options, Output& output, const std::stop_token&) {
    const onnx::Model model = onnx::Model::open(options.file);
    const ImportValues values(options.texts, model);
    try {
        const onnx::Imported imported = onnx::import(model, values.options());
        std::size_t weights = 0;
        for (const GraphPort& port : ports(imported.graph)) {
            weights += port.kind == GraphPort::Kind::weight ? 1 : 0;
            if (port.kind == GraphPort::Kind::input || port.kind == GraphPort::Kind::output) put_port(port, output);
        }
        for (const auto& [symbol, name] : imported.symbol_names)
            output.line({{"kind", "size"}, {"symbol", symbol}, {"name", name}},
                        fmt::format("size    {} is {} in the file", symbol, name));
        if (!options.output.empty()) write_files(imported, options.output);
        output.line({{"kind", "import"},
                     {"nodes", std::to_string(model.node_count())},
                     {"values", std::to_string(imported.graph.size())},
                     {"weights", std::to_string(weights)},
                     {"folder", options.output}},
                    fmt::format("{} nodes are a graph of {} values with {} weights{}", model.node_count(),
                                imported.graph.size(), weights,
                                options.output.empty() ? "" : fmt::format(", written to {}", options.output)));
        return 0;
    } catch (const onnx::ImportError& error) {
        put_unsupported(error, output);
        return 1;
    }
}

}  // namespace

void add_import(CLI::App& app, Action& chosen) {
    auto options = std::make_shared<ImportCommand>();
    CLI::App& command = *app.add_subcommand("import", "convert an ONNX file to a graph and its weights");
    command.add_option("file", options->file, "an ONNX model")->required()->option_text("FILE");
    command
        .add_option("--output", options->output, "a folder for graph.cairn and weights.safetensors; none: only tell")
        ->option_text("DIR");
    add_import_options(command, options->texts);
    command.add_flag("--json", options->all.json, "one JSON object a line");
    command.footer("The exit code is 1 if something cannot be imported: each such operator is told with its reason.");
    set_action(command, options, chosen, import_file);
}

}  // namespace cairn::cli
