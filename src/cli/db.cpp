#include "cairn/tuning.hpp"
#include "cli/command.hpp"
#include "cli/database_file.hpp"
#include "cli/host.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

namespace cairn::cli {
namespace {

struct DbOptions {
    Options all;
    std::string problem, kernel;
};

/// One that is there already.
std::unique_ptr<TimingDb> open_database(const std::filesystem::path& path) {
    if (path.empty()) throw Error(ErrorKind::argument, "db", "there is no cache folder: name the database by --db");
    std::error_code fault;
    if (!std::filesystem::exists(path, fault))
        throw Error(ErrorKind::file, "db", "there is no database " + path.string());
    look_at_database(path);
    std::string logged;
    auto database = std::make_unique<TimingDb>(path, [&](std::string_view line) { logged = line; });
    if (!database->persistent()) throw Error(ErrorKind::file, "db", path.string() + ": " + logged);
    return database;
}

int show_info(const DbOptions& options, Output& output) {
    const std::filesystem::path path = database_of(options.all);
    const std::size_t rows = open_database(path)->size();
    const DatabaseFile file = look_at_database(path);
    output.line({{"kind", "db"},
                 {"db", path.string()},
                 {"times", std::to_string(rows)},
                 {"bytes", std::to_string(file.bytes)},
                 {"wal", file.has_log}},
                fmt::format("{}: {} times, {}, {}", path.string(), rows, bytes_text(static_cast<double>(file.bytes)),
                            file.has_log ? "readers and writers do not wait for one another (WAL)"
                                         : "readers and writers wait for one another (no WAL)"));
    return 0;
}

void put_timing(const Problem& problem, const Kernel& kernel, const Timing& timing, Output& output) {
    Row row{{"kind", "time"}, {"kernel", kernel.id}, {"problem", to_string(problem)}};
    std::string text = fmt::format("{:<44} ", kernel.id);
    switch (timing.status) {
        case TimingStatus::ok:
            row["cost_ns"] = nanoseconds(timing.median);
            row["samples"] = std::to_string(timing.samples);
            text += fmt::format("{} in {} blocks", time_text(timing.median), timing.samples);
            break;
        case TimingStatus::failed:
            row["reason"] = timing.note;
            text += "could not be measured: " + timing.note;
            break;
        case TimingStatus::censored:
            row["at_least_ns"] = nanoseconds(timing.bound);
            text += fmt::format("{} at least", time_text(timing.bound));
            break;
    }
    output.line(row, text);
}

int query_database(const DbOptions& options, Output& output) {
    const std::filesystem::path path = database_of(options.all);
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem(options.problem, *symbols);
    if (symbols_of(problem) != nullptr)
        throw Error(ErrorKind::argument, "db", "times are of constant sizes, got " + to_string(problem));
    const std::unique_ptr<TimingDb> database = open_database(path);
    const Context context = make_context(options.all, {});
    const TimingEnvironment environment = timing_environment(context);
    TimingPolicy policy;
    policy.threads = context.threads();
    bool is_known = false;
    for (const Kernel& kernel : context.kernels().kernels) {
        if (kernel.definition != problem.definition || (!options.kernel.empty() && kernel.id != options.kernel))
            continue;
        is_known = true;
        if (const auto timing = database->find(problem, kernel.id, environment, policy))
            put_timing(problem, kernel, *timing, output);
    }
    if (is_known) return 0;
    throw Error(ErrorKind::argument, "db",
                options.kernel.empty() ? fmt::format("there is no kernel for {}", problem.definition)
                                       : fmt::format("{} has no kernel {}", problem.definition, options.kernel));
}

}  // namespace

void add_db(CLI::App& app, Work& chosen) {
    auto options = std::make_shared<DbOptions>();
    CLI::App& command = *app.add_subcommand("db", "look into the timing database");
    command.require_subcommand(1);
    const auto add = [&](const char* name, const char* description, int (*work)(const DbOptions&, Output&)) {
        CLI::App& part = *command.add_subcommand(name, description);
        add_machine_options(part, options->all);
        part.callback([options, work, &chosen] {
            chosen = [options, work](Output& output, const std::stop_token&) {
                output.json = options->all.json;
                return work(*options, output);
            };
        });
        return &part;
    };
    add("info", "where it is, and how much it holds", show_info);
    CLI::App* query = add("query", "the times that this machine has of a problem", query_database);
    query->add_option("problem", options->problem, "in text form: 'exp | f32[64] -> f32[64]'")
        ->required()
        ->option_text("PROBLEM");
    query->add_option("--kernel", options->kernel, "only this one, by its id")->option_text("ID");
}

}  // namespace cairn::cli
