#pragma once

#include "graph/types/text_cursor.hpp"

#include <string>

namespace cairn::ir {

/// Reads a JSON string with all its escapes: the inverse of quoted(). Throws Error(argument) naming the column.
std::string read_json_string(types::TextCursor& cursor);

}  // namespace cairn::ir
