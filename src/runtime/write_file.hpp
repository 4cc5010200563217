#pragma once

#include <filesystem>
#include <string_view>

namespace cairn::inline v0::runtime {

/// Writes a file whole or not at all: beside it first, then in its place. Throws Error(file), naming `part` and the
/// path.
void write_file(const std::filesystem::path& path, std::string_view contents, std::string_view part);

}  // namespace cairn::inline v0::runtime
