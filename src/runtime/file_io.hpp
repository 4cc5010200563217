#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace cairn::runtime {

/// Writes a file whole or not at all: beside it first, then in its place. Throws Error(file), naming `part` and the
/// path.
void write_file(const std::filesystem::path& path, std::string_view contents, std::string_view part);

/// All of a file. Throws Error(file), naming `part`, what the file should be (`the lock`) and the path, for what cannot
/// be read: a folder, too.
std::string read_file(const std::filesystem::path& path, std::string_view part, std::string_view what);

}  // namespace cairn::runtime
