#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace cairn::runtime {

/// What a crash of the system may leave of a file that is written.
enum class Durability {
    none,        ///< the old file, the new one, or an incomplete one: for files whose readers check them
    after_crash  ///< the old file or the new one; waits for the disk
};

/// Writes a file atomically: to a temporary file next to it, which is then renamed. Throws Error(file), naming `part`
/// and the path.
void write_file(const std::filesystem::path& path, std::string_view contents, std::string_view part,
                Durability durability = Durability::after_crash);

/// Reads a whole file. Throws Error(file), naming `part`, what the file should be (`the lock`) and the path, if it
/// cannot be read or is a folder.
std::string read_file(const std::filesystem::path& path, std::string_view part, std::string_view what);

}  // namespace cairn::runtime
