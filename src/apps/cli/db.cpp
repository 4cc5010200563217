#include "apps/cli/db.hpp"

#include <CLI/CLI.hpp>

namespace cairn::cli {

void add_db(CLI::App& app, Action& chosen) {
    CLI::App& command = *app.add_subcommand("db", "inspect, share and maintain the timing database");
    command.require_subcommand(1);
    for (const auto add : {add_db_info, add_db_query, add_db_import_export, add_db_diff, add_db_maintenance,
                           add_db_rules, add_db_ship, add_db_lock})
        add(command, chosen);
    command.footer(
        "In a PATTERN * is any text and ? any character. Kernels go by their ids, problems by their text form,\n"
        "environments by their text or as here, which is this machine with as many threads, or the GPU of --device.");
}

}  // namespace cairn::cli
