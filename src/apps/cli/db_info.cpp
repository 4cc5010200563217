#include "apps/cli/database_file.hpp"
#include "apps/cli/db.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/cli/timing_output.hpp"
#include "apps/console/timestamp.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

namespace cairn::cli {
namespace {

struct InfoOptions {
    Options all;
    bool sessions = false;
};

void put_counts(const std::filesystem::path& path, const TimingFileInfo& info, Output& output) {
    const bool has_log = inspect_database_file(path).has_log;
    const auto digits = [](auto count) { return std::to_string(count); };
    output.line(
        {{"kind", "db"},
         {"db", path.string()},
         {"version", digits(info.version)},
         {"bytes", digits(info.bytes)},
         {"wal", has_log},
         {"times", digits(info.times)},
         {"figures", digits(info.calibrations)},
         {"errors", digits(info.errors)},
         {"choices", digits(info.choices)},
         {"rules", digits(info.rules)},
         {"sessions", digits(info.sessions)},
         {"problems", digits(info.problems)},
         {"kernels", digits(info.kernels)},
         {"oldest", digits(info.oldest)},
         {"newest", digits(info.newest)}},
        fmt::format("{}: {} times, {}, {}\n"
                    "schema {}: {} problems, {} kernels, {} figures of machines, {} errors, {} choices, "
                    "{} rules, {} sessions\n"
                    "times are from {} to {}",
                    path.string(), info.times, bytes_text(static_cast<double>(info.bytes)),
                    has_log ? "readers and writers do not wait for one another (WAL)"
                            : "readers and writers wait for one another (no WAL)",
                    info.version, info.problems, info.kernels, info.calibrations, info.errors, info.choices, info.rules,
                    info.sessions, console::timestamp_text(info.oldest), console::timestamp_text(info.newest)));
}

void put_environments(const TimingFileInfo& info, std::span<const TimingEnvironment> here, Output& output) {
    for (const auto& [environment, times] : info.environments) {
        OutputRow row{{"kind", "environment"},
                      {"environment", environment.hard},
                      {"soft", environment.soft},
                      {"times", std::to_string(times)}};
        add_environment_match(row, environment.hard, here);
        output.line(row, fmt::format("{:<9} {} times of {}", environment_match_text(environment.hard, here), times,
                                     environment.hard));
    }
}

void put_session(const TimingSession& session, Output& output) {
    output.line(
        {{"kind", "session"},
         {"begun", std::to_string(session.begun)},
         {"program", session.program},
         {"version", session.version},
         {"environment", session.environment.hard},
         {"times", std::to_string(session.times)},
         {"errors", std::to_string(session.errors)},
         {"choices", std::to_string(session.choices)}},
        fmt::format("{}  {} with version {}: {} times, {} errors, {} choices", console::timestamp_text(session.begun),
                    session.program.empty() ? "a program without a name" : session.program, session.version,
                    session.times, session.errors, session.choices));
}

int show_info(const InfoOptions& options, Output& output, const std::stop_token&) {
    const std::filesystem::path path = existing_database(options.all);
    const TimingFile file = open_to_read(options.all);
    const TimingFileInfo info = file.info();
    put_counts(path, info, output);
    put_environments(info, environments_of_this_machine(options.all), output);
    if (options.sessions)
        for (const TimingSession& session : file.sessions()) put_session(session, output);
    return 0;
}

}  // namespace

void add_db_info(CLI::App& db, Action& chosen) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App& command = *db.add_subcommand("info", "print its path, contents and machines");
    command.add_flag("--sessions", options->sessions, "and who measured when, the latest first");
    add_machine_options(command, options->all);
    set_action(command, options, chosen, show_info);
}

}  // namespace cairn::cli
