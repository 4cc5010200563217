#pragma once

#include <string>
#include <string_view>

#include "cairn/error.hpp"

namespace cairn::weights {

/// `[safetensors] model.safetensors: <what>`, of kind file.
Error file_error(std::string_view file, std::string_view what);

/// A text out of a file as a message may show it: in quotes, cut at 80 bytes, with `?` for what is not printable ASCII.
std::string printable(std::string_view text);

}  // namespace cairn::weights
