#pragma once

#include <string>
#include <string_view>

namespace cairn::console {

/// The contents of a file, or of standard input for `-`. Throws Error(file).
std::string read_text(const std::string& path);
/// Throws Error(file) if the path cannot be written, as far as this is known without creating the file; for use before
/// long work. An empty path is valid.
void check_can_write(const std::string& path);
/// Throws Error(file).
void write_text(const std::string& path, std::string_view text);

}  // namespace cairn::console
