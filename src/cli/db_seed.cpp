#include "cli/db.hpp"
#include "cli/new_file.hpp"
#include "cli/open_database.hpp"
#include "cli/patterns.hpp"
#include "cli/scratch_folder.hpp"
#include "cli/subcommand.hpp"

#include <fmt/format.h>

#include <limits>

namespace cairn::cli {
namespace {

struct ShippedOptions {
    Options all;
    std::string file, environment = "*";
    bool force = false;
};

/// Writes what counts to an empty file.
void write_seed(const TimingFile& from, const std::string& environment, const std::filesystem::path& path) {
    const ScratchFolder scratch;
    TimingFile seed(scratch.path() / "seed.db", TimingFile::Use::write);
    seed.merge(from);
    seed.collect({std::numeric_limits<std::int64_t>::max(), environment});
    seed.copy_to(path);
}

int make_seed(const ShippedOptions& options, Output& output, const std::stop_token&) {
    const TimingFile file = open_to_read(options.all);
    const std::string environment = environment_pattern(options.environment, options.all);
    if (file.query({.environment = environment}).empty())
        throw Error(ErrorKind::argument, "db", "no time here is of an environment " + environment);
    NewFile seed(options.file, options.force);
    write_seed(file, environment, seed.unfinished());
    const TimingFileInfo info = TimingFile(seed.unfinished(), TimingFile::Use::read).info();
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
    CLI::App& command =
        *db.add_subcommand("seed", "write what counts to a database that is safe to ship, and to be read by others");
    command.add_option("file", options->file, "the seed, for ContextOptions::timing_seeds")
        ->required()
        ->option_text("FILE");
    add_pattern(command, "--environment", options->environment, "only of these machines; here is this one");
    command.add_flag("--force", options->force, "replace a file that is there");
    add_machine_options(command, options->all);
    choose(command, options, chosen, make_seed);
}

}  // namespace cairn::cli
