#pragma once

#include <filesystem>

namespace cairn::cli {

/// Times of other machines that come with the command: share/cairn/shipped_timings.db beside its folder. Empty where
/// there are none.
std::filesystem::path shipped_timings_file();

/// What lies at a path, read and not opened as a database: nothing is changed or made.
struct DatabaseFileInfo {
    bool exists = false;
    bool has_log = false;  ///< writers append to a log (WAL) and readers go on meanwhile
    std::uintmax_t bytes = 0;
};
/// Throws Error(file) where something other than a database is there, or where the folder it would be made in is not.
DatabaseFileInfo inspect_database_file(const std::filesystem::path& path);

}  // namespace cairn::cli
