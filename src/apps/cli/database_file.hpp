#pragma once

#include <filesystem>

namespace cairn::cli {

/// The shipped timings of the command: share/cairn/shipped_timings.db beside its folder. Empty if there are none.
std::filesystem::path shipped_timings_file();

/// Facts about a database file, found without opening it as a database: nothing is changed or created.
struct DatabaseFileInfo {
    bool exists = false;
    bool has_log = false;  ///< it is in WAL mode: readers continue while a writer appends to the log
    std::uintmax_t bytes = 0;
};
/// Throws Error(file) if the path is something other than a database, or if its folder does not exist.
DatabaseFileInfo inspect_database_file(const std::filesystem::path& path);

}  // namespace cairn::cli
