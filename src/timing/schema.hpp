#pragma once

#include "timing/sqlite_file.hpp"

/// The tables: problem x candidate x environment x policy, and every measurement made of them, of times and of errors.
namespace cairn::inline v0::timing {

constexpr std::int64_t application_id = 0x43524e54;  // "CRNT"
constexpr std::int64_t schema_version = 2;

/// Makes the tables in an empty file, or those that one of an older version lacks, in one transaction; leaves a file of
/// this version as it is. Throws DatabaseFault for a file of another program, and for one of a newer version (`newer`
/// is then set).
void prepare_schema(SqliteFile& file, bool& newer);

/// Checks the file's pages. Throws DatabaseFault with `corrupt` set.
void check_pages(SqliteFile& file);

}  // namespace cairn::inline v0::timing
