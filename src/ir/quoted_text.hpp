#pragma once

#include "types/text_cursor.hpp"

#include <string>

namespace cairn::inline v0::ir {

/// Reads a JSON string, all its escapes included: the inverse of quoted(). Throws Error(argument) naming the column.
std::string read_quoted(types::TextCursor& cursor);

}  // namespace cairn::inline v0::ir
