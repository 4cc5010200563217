#include "apps/cli/db.hpp"
#include "apps/cli/glob_pattern.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/scratch_folder.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/console/timestamp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::cli {
namespace {

struct CollectOptions {
    Options all;
    std::string before = "30d", keep_environment = "*";
    bool dry_run = false;
};

struct CheckOptions {
    Options all;
};

int check_database(const CheckOptions& options, Output& output, const std::stop_token&) {
    const std::filesystem::path path = existing_database(options.all);
    const std::vector<std::string> faults = open_to_read(options.all).check();
    for (const std::string& fault : faults) output.line({{"kind", "fault"}, {"reason", fault}}, fault);
    output.line(
        {{"kind", "check"}, {"db", path.string()}, {"faults", std::to_string(faults.size())}},
        faults.empty() ? path.string() + ": no faults" : fmt::format("{}: {} faults", path.string(), faults.size()));
    return faults.empty() ? 0 : 1;
}

/// The rows to remove. Throws if the pattern of environments to keep matches none.
TimingRetention collection_of(const CollectOptions& options, const TimingFile& file) {
    TimingRetention which;
    which.before = console::parse_timestamp(options.before, console::now()).value();
    set_kept_environments(which, options.keep_environment, options.all);
    const auto environments = file.info().environments;
    const auto is_kept = [&](const auto& each) {
        return glob_matches(which.keep_environment, each.first.hard) ||
               std::any_of(which.keep_also.begin(), which.keep_also.end(),
                           [&](const std::string& kept) { return glob_matches(kept, each.first.hard); });
    };
    if (which.keep_environment != "*" && std::none_of(environments.begin(), environments.end(), is_kept))
        throw Error(ErrorKind::argument, "db",
                    fmt::format("no environment here matches {}: every time would be removed", which.keep_environment));
    return which;
}

int collect_garbage(const CollectOptions& options, Output& output, const std::stop_token&) {
    const std::filesystem::path path = existing_database(options.all);
    const TimingRetention which = collection_of(options, open_to_read(options.all));
    const std::uintmax_t before = std::filesystem::file_size(path);
    const ScratchFolder scratch;
    const std::filesystem::path copy = scratch.path() / "copy.db";
    if (options.dry_run) open_to_read(options.all).copy_to(copy);
    const std::size_t removed = options.dry_run ? TimingFile(copy, TimingFile::Use::write).collect(which)
                                                : open_to_write(options.all).collect(which);
    const std::uintmax_t after = std::filesystem::file_size(options.dry_run ? copy : path);
    output.line({{"kind", "gc"},
                 {"removed", std::to_string(removed)},
                 {"dry_run", options.dry_run},
                 {"bytes_before", std::to_string(before)},
                 {"bytes", std::to_string(after)}},
                fmt::format("{} rows {} removed; {} before, {} {}", removed, options.dry_run ? "would be" : "are",
                            bytes_text(static_cast<double>(before)), bytes_text(static_cast<double>(after)),
                            options.dry_run ? "then" : "now"));
    return 0;
}

}  // namespace

void add_db_maintenance(CLI::App& db, Action& chosen) {
    auto check = std::make_shared<CheckOptions>();
    CLI::App& check_command = *db.add_subcommand("check", "check the database: damaged pages, invalid rows");
    add_database_options(check_command, check->all);
    check_command.footer("The exit code is 1 where something is wrong.");
    set_action(check_command, check, chosen, check_database);

    auto collect = std::make_shared<CollectOptions>();
    CLI::App& command = *db.add_subcommand("gc", "remove rows that count no more, and give the space back");
    command
        .add_option("--before", collect->before,
                    "only older ones than 12h or 30d, or from before a date; rows that count are kept")
        ->check(console::timestamp_error)
        ->option_text("TIME")
        ->capture_default_str();
    add_glob_option(
        command, "--keep-environment", collect->keep_environment,
        "and all rows of other machines than these, of any age; here is this one, with the GPU of --device, "
        "or with all GPUs");
    command.add_flag("--dry-run", collect->dry_run, "only print their number, found on a copy");
    add_machine_options(command, collect->all);
    set_action(command, collect, chosen, collect_garbage);
}

}  // namespace cairn::cli
