#pragma once

#include "cli/command.hpp"

/// The parts of `cairn db`. Each adds its subcommands to `db`; where one is named on the command line, `chosen` becomes
/// its work.
namespace cairn::cli {

void add_db_info(CLI::App& db, Work& chosen);      // info
void add_db_query(CLI::App& db, Work& chosen);     // query
void add_db_exchange(CLI::App& db, Work& chosen);  // export, import, merge
void add_db_diff(CLI::App& db, Work& chosen);      // diff
void add_db_tending(CLI::App& db, Work& chosen);   // check, gc
void add_db_rules(CLI::App& db, Work& chosen);     // rules, pin, ban, unpin, unban
void add_db_seed(CLI::App& db, Work& chosen);      // seed
void add_db_lock(CLI::App& db, Work& chosen);      // lock

}  // namespace cairn::cli
