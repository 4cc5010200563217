#include "apps/compare/run_compare.hpp"

#include "apps/compare/command.hpp"
#include "apps/compare/graph_model.hpp"
#include "apps/compare/library_models.hpp"
#include "apps/compare/report.hpp"
#include "apps/compare/slowdown.hpp"
#include "apps/console/atomic_file.hpp"
#include "apps/console/guarded.hpp"
#include "apps/console/help_format.hpp"
#include "apps/console/interrupt.hpp"
#include "apps/console/standard_streams.hpp"
#include "apps/console/text_file.hpp"
#include "cairn/context.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>

namespace cairn::compare {
namespace {

struct Options {
    std::string config, json, csv, markdown, old_report;
    double allowed = 0.05;
};

constexpr const char* description =
    "Times implementations of one model on one data set, in turns, and compares their answers.";

constexpr const char* footer =
    "Examples:\n"
    "  cairn-compare compare.toml                                      a table of times, answers and memory\n"
    "  cairn-compare compare.toml --json new.json --markdown new.md    files with all of it\n"
    "  cairn-compare compare.toml --compare old.json --allowed-slowdown 0.03\n"
    "                                                                  exit code 1 if something is slower now\n"
    "\n"
    "The file is described in docs/compare.md. An implementation that fails is a row with its error. A fault is one\n"
    "sentence and exit code 2; Ctrl-C reports what was measured and exits with 130.";

void add_options(CLI::App& app, Options& options) {
    app.formatter(std::make_shared<console::HelpFormat>());
    app.set_version_flag("--version", "cairn " + std::string(version()), "the version of the library");
    app.set_help_flag("-h,--help", "this text");
    app.footer(footer);
    app.add_option("config", options.config, "a TOML file: data, implementations, what is measured")
        ->required()
        ->option_text("CONFIG");
    app.add_option("--json", options.json, "a file for the report, which --compare can read later")
        ->option_text("FILE");
    app.add_option("--csv", options.csv, "a file with a line for each batch size")->option_text("FILE");
    app.add_option("--markdown", options.markdown, "a file with the report as a page")->option_text("FILE");
    CLI::Option& compare =
        *app.add_option("--compare", options.old_report, "an earlier report (--json) of the same data and settings")
             ->option_text("FILE");
    app.add_option("--allowed-slowdown", options.allowed,
                   "the share by which a time may exceed that of the other report")
        ->check(CLI::Range(0.0, 1e6))
        ->needs(&compare)
        ->option_text("SHARE")
        ->capture_default_str();
}

std::unique_ptr<Implementation> make(const ImplementationSettings& implementation, const Settings& settings) {
    switch (implementation.kind) {
        case Kind::encoder: return make_encoder(implementation, settings);
        case Kind::decoder: return make_decoder(implementation, settings);
        case Kind::lexicon: return make_lexicon(implementation, settings);
        case Kind::graph: return make_graph(implementation, settings);
        case Kind::command: break;
    }
    return std::make_unique<Command>(implementation, settings);
}

/// A file that is written at the end; wrong paths are refused at once. Empty path: none.
std::optional<console::AtomicFile>& open(std::optional<console::AtomicFile>& file, const std::string& path) {
    if (!path.empty()) file.emplace(path, true);
    return file;
}

void write(std::optional<console::AtomicFile>& file, const std::string& text) {
    if (!file) return;
    console::write_text(file->temporary_path().string(), text);
    file->commit();
}

int compare(const Options& options, const std::stop_token& stop) {
    const Settings settings = read_settings(options.config);
    const Dataset data = read_dataset(settings.data, settings.task);
    std::optional<nlohmann::json> old_report;
    if (!options.old_report.empty()) {
        old_report = read_report(options.old_report);
        const auto rows = static_cast<std::int64_t>(data.rows.size());
        check_comparable(*old_report, nlohmann::json(settings_json(settings, data.sha256, rows)));
    }
    std::optional<console::AtomicFile> json, csv, markdown;
    open(json, options.json);
    open(csv, options.csv);
    open(markdown, options.markdown);

    const bool shows_progress = isatty(STDERR_FILENO) == 1;
    const Measurements measurements = measure(
        settings, data, make,
        [&](std::string_view what) {
            if (shows_progress) console::print_to_stderr(what);
        },
        stop);
    const Report report =
        make_report(settings, data, model_digests(settings), measurements, this_machine(settings.measure.threads));
    const nlohmann::ordered_json as_json = json_of(report);
    write(json, as_json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
    write(csv, csv_of(report));
    write(markdown, markdown_of(report));
    console::print(text_of(report));
    if (!report.is_complete) return console::interrupted;
    if (!old_report) return 0;
    const ReportChange change = change_of(*old_report, nlohmann::json(as_json));
    console::print("\n" + text_of(change, options.allowed));
    return is_acceptable(change, options.allowed) ? 0 : 1;
}

}  // namespace

int run_compare(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a command that closes its input is a failure of that command
    const console::Interrupt interrupt;
    Options options;
    CLI::App app(description, "cairn-compare");
    add_options(app, options);
    return console::guarded(app, [&] {
        app.parse(argc, argv);
        return compare(options, interrupt.token());
    });
}

}  // namespace cairn::compare
