#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace cairn::compare {

/// SHA-256 of a text: 64 hexadecimal digits.
std::string sha256_of_text(std::string_view text);

/// SHA-256 of a file. Of a folder: that of the lines `<SHA-256>  <path>` of its files in the order of their paths, as
/// sha256sum prints them. Throws Error(file) if a file cannot be read.
std::string sha256_of_path(const std::filesystem::path& path);

}  // namespace cairn::compare
