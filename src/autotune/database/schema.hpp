#pragma once

#include "autotune/database/sqlite_file.hpp"

/// The database schema: problem x candidate x environment x policy, and every measurement of times and errors; choices
/// made by measurements; rules; and the session of each row.
namespace cairn::autotune {

constexpr std::int64_t application_id = 0x43524e54;  // "CRNT"
/// 1: times. 2: errors. 3: sessions, choices, rules, and the oldest reader version.
constexpr std::int64_t schema_version = 3;

/// Creates the tables in an empty file, or adds those that an older version lacks, in one transaction. Leaves a file of
/// this version or a newer one unchanged. Throws DatabaseFault for a file of another program.
void prepare_schema(SqliteFile& file);

/// The schema version to read a file as: its own, or that of this library if a newer file allows that. Throws
/// DatabaseFault for a file of another program, for an empty one, and for one that is too new.
std::int64_t readable_version(SqliteFile& file);

/// False for a file of a newer version, whose requirements on rows are unknown here.
bool is_writable_version(SqliteFile& file);

}  // namespace cairn::autotune
