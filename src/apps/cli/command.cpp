#include "apps/cli/command.hpp"

#include "apps/cli/host.hpp"
#include "apps/console/guarded.hpp"
#include "apps/console/help_format.hpp"
#include "apps/console/interrupt.hpp"
#include "cairn/context.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cairn::cli {
namespace {

/// Error message if the command line names no known subcommand of `app` at argument `at`; empty if it is valid.
std::string missing_command(const CLI::App& app, int argc, char** argv, int at = 1) {
    std::vector<std::string> known;
    const std::string word = at < argc ? argv[at] : "";
    for (const CLI::App* each : app.get_subcommands({})) {
        if (each->get_name() == word) return missing_command(*each, argc, argv, at + 1);
        known.push_back(each->get_name());
    }
    if (known.empty() || word.starts_with('-')) return {};
    const std::string of = at > 1 ? " of " + app.get_name() : "";
    const std::string fault = word.empty() ? "name a command" + of : fmt::format("there is no command {}{}", word, of);
    return fmt::format("[command line] {}: there are {}", fault, fmt::join(known, ", "));
}

constexpr const char* description =
    "What a graph can be compiled to, what is chosen and why, and what each choice costs. A graph is a text file\n"
    "as to_string(Graph) prints it; the example programs write theirs with --save-graph.";

constexpr const char* footer =
    "Examples:\n"
    "  cairn tune gpt2.cairn --budget 10s               measure missing times of the best programs\n"
    "  cairn paths gpt2.cairn --best 3 --profile        the three cheapest paths, each run and timed\n"
    "  cairn explain gpt2.cairn --html report.html      one page: what was chosen, memory, times\n"
    "  cairn explain gpt2.cairn --why-not softmax       why kernels for softmax were not selected\n"
    "  cairn bench 'matmul | f32[8,64] f32[64,64] -> f32[8,64]'\n"
    "                                                   every kernel that accepts it, and why others do not\n"
    "  cairn import model.onnx --output model           an ONNX file as a graph and its weights\n"
    "  cairn run model/graph.cairn --weights model/weights.safetensors --inputs x.safetensors --outputs y.safetensors\n"
    "  cairn diff a.cairn b.cairn                       how two graphs, or two saved programs, differ\n"
    "  cairn db lock gpt2.cairn --output gpt2.lock      what the programs consist of, for --mode replay\n"
    "\n"
    "cairn COMMAND --help lists the options of a command. Results go to standard output, all else to standard\n"
    "error. A fault is one sentence and exit code 2; Ctrl-C keeps what was measured and exits with 130.";

void describe(CLI::App& app) {
    app.require_subcommand(1);
    app.formatter(std::make_shared<console::HelpFormat>());
    app.set_version_flag("--version", "cairn " + std::string(version()), "the version of the library");
    app.set_help_flag("-h,--help", "this text, or that of a command");
}

}  // namespace

int run_command(int argc, char** argv) {
    const console::Interrupt interrupt;
    Output output;
    Action chosen;
    CLI::App app(description, "cairn");
    describe(app);
    for (const auto add : {add_tune, add_paths, add_explain, add_bench, add_check, add_verify, add_diff, add_import,
                           add_run, add_db, add_doctor})
        add(app, chosen);
    app.footer(footer);
    if (const std::string missing = missing_command(app, argc, argv); !missing.empty()) {
        print_to_stderr(missing);
        return console::fault;
    }
    return console::guarded(app, [&] {
        app.parse(argc, argv);
        return chosen(output, interrupt.token());
    });
}

}  // namespace cairn::cli
