#include "apps/cli/db.hpp"
#include "apps/cli/glob_pattern.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/scratch_folder.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/console/atomic_file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cairn::cli {
namespace {

struct ShippedOptions {
    Options all;
    std::string file, environment = "*";
    bool rules = false, force = false;
};

int write_shipped(const ShippedOptions& options, Output& output, const std::stop_token&) {
    const TimingFile file = open_to_read(options.all);
    const std::string environment = environment_pattern(options.environment, options.all);
    if (file.query({.environment = environment}).empty())
        throw Error(ErrorKind::argument, "db", "no time here matches an environment " + environment);
    ShippedTimingsOptions which;
    which.times.environment = environment;
    which.rules = options.rules;
    console::AtomicFile shipped(options.file, options.force);
    const ScratchFolder scratch;
    const std::filesystem::path whole = scratch.path() / "shipped_timings.db";
    const TimingFileInfo info = file.write_shipped_timings(whole, which);
    std::filesystem::copy_file(whole, shipped.temporary_path(), std::filesystem::copy_options::overwrite_existing);
    shipped.commit();
    output.line({{"kind", "ship"},
                 {"file", options.file},
                 {"times", std::to_string(info.times)},
                 {"environments", std::to_string(info.environments.size())},
                 {"bytes", std::to_string(info.bytes)}},
                fmt::format("{}: {} times of {} environments, {}", options.file, info.times, info.environments.size(),
                            bytes_text(static_cast<double>(info.bytes))));
    return 0;
}

}  // namespace

void add_db_ship(CLI::App& db, Action& chosen) {
    auto options = std::make_shared<ShippedOptions>();
    CLI::App& command = *db.add_subcommand(
        "ship", "write the times that can be trusted to a database that is safe to ship, and to be read by others");
    command.add_option("file", options->file, "the shipped timings, for ContextOptions::shipped_timings")
        ->required()
        ->option_text("FILE");
    add_glob_option(command, "--environment", options->environment, "only of these machines; here is this one");
    command.add_flag("--rules", options->rules, "with the rules in force");
    command.add_flag("--force", options->force, "replace a file that is there");
    add_machine_options(command, options->all);
    set_action(command, options, chosen, write_shipped);
}

}  // namespace cairn::cli
