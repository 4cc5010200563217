#pragma once

#include "apps/cli/command.hpp"

/// The subcommands of `cairn db`. Each function adds some to `db`; if the command line names one, `chosen` becomes its
/// action.
namespace cairn::cli {

void add_db_info(CLI::App& db, Action& chosen);           // info
void add_db_query(CLI::App& db, Action& chosen);          // query
void add_db_import_export(CLI::App& db, Action& chosen);  // export, import, merge
void add_db_diff(CLI::App& db, Action& chosen);           // diff
void add_db_maintenance(CLI::App& db, Action& chosen);    // check, gc
void add_db_rules(CLI::App& db, Action& chosen);          // rules, pin, ban, unpin, unban
void add_db_ship(CLI::App& db, Action& chosen);           // ship
void add_db_lock(CLI::App& db, Action& chosen);           // lock

}  // namespace cairn::cli
