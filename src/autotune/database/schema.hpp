#pragma once

#include "autotune/database/sqlite_file.hpp"

/// The tables: problem x candidate x environment x policy, and every measurement made of them, of times and of errors;
/// what was chosen by measurements; rules; and in which session each row was made.
namespace cairn::autotune {

constexpr std::int64_t application_id = 0x43524e54;  // "CRNT"
/// 1: times. 2: errors. 3: sessions, choices, rules, and who may read it.
constexpr std::int64_t schema_version = 3;

/// Makes the tables in an empty file, or those that one of an older version lacks, in one transaction; leaves a file of
/// this version, or of a newer one, as it is. Throws DatabaseFault for a file of another program.
void prepare_schema(SqliteFile& file);

/// The version as which a file is to be read: its own, or that of this library where a newer one says that it may.
/// Throws DatabaseFault for a file of another program, for an empty one, and for one that is too new.
std::int64_t readable_version(SqliteFile& file);

/// False for a file of a newer version: what it wants of its rows is not known here.
bool is_writable_version(SqliteFile& file);

}  // namespace cairn::autotune
