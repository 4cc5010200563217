#pragma once

#include <string>
#include <string_view>

#include "cairn/error.hpp"

namespace cairn::files {

/// `[<format>] model.safetensors: <what>`, of kind file.
Error file_error(std::string_view format, std::string_view file, std::string_view what);

/// A text from a file as shown in messages: in quotes, cut at 80 bytes, with `?` for bytes that are not printable
/// ASCII.
std::string printable(std::string_view text);

}  // namespace cairn::files
