#pragma once

#include <exception>
#include <string_view>

namespace cairn::console {

/// Standard output was closed by its reader: not an error, but the program ends.
struct BrokenPipe : std::exception {};

/// Writes text to standard output. Throws BrokenPipe, and Error(file) if it cannot be written.
void print(std::string_view text);

/// Prints a line on standard error.
void print_to_stderr(std::string_view line);

}  // namespace cairn::console
