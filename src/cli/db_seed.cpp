#include "cli/db.hpp"
#include "cli/new_file.hpp"
#include "cli/open_database.hpp"
#include "cli/patterns.hpp"
#include "cli/scratch_folder.hpp"
#include "cli/subcommand.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cairn::cli {
namespace {

struct ShippedOptions {
    Options all;
    std::string file, environment = "*";
    bool rules = false, force = false;
};

int make_seed(const ShippedOptions& options, Output& output, const std::stop_token&) {
    const TimingFile file = open_to_read(options.all);
    const std::string environment = environment_pattern(options.environment, options.all);
    if (file.query({.environment = environment}).empty())
        throw Error(ErrorKind::argument, "db", "no time here is of an environment " + environment);
    SeedOptions which;
    which.times.environment = environment;
    which.rules = options.rules;
    NewFile seed(options.file, options.force);
    const ScratchFolder scratch;
    const std::filesystem::path whole = scratch.path() / "seed.db";
    const TimingFileInfo info = file.write_seed(whole, which);
    std::filesystem::copy_file(whole, seed.unfinished(), std::filesystem::copy_options::overwrite_existing);
    seed.keep();
    output.line({{"kind", "seed"},
                 {"file", options.file},
                 {"times", std::to_string(info.times)},
                 {"environments", std::to_string(info.environments.size())},
                 {"bytes", std::to_string(info.bytes)}},
                fmt::format("{}: {} times of {} environments, {}", options.file, info.times, info.environments.size(),
                            bytes_text(static_cast<double>(info.bytes))));
    return 0;
}

}  // namespace

void add_db_seed(CLI::App& db, Work& chosen) {
    auto options = std::make_shared<ShippedOptions>();
    CLI::App& command = *db.add_subcommand(
        "seed", "write the times that can be trusted to a database that is safe to ship, and to be read by others");
    command.add_option("file", options->file, "the seed, for ContextOptions::timing_seeds")
        ->required()
        ->option_text("FILE");
    add_pattern(command, "--environment", options->environment, "only of these machines; here is this one");
    command.add_flag("--rules", options->rules, "with the rules in force");
    command.add_flag("--force", options->force, "replace a file that is there");
    add_machine_options(command, options->all);
    choose(command, options, chosen, make_seed);
}

}  // namespace cairn::cli
