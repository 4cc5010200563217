#pragma once

#include "cairn/error.hpp"

namespace cairn::ir {

/// Throws Error(graph) `[part] text (file:line)`; without the location if there is none, as in a graph read from text.
[[noreturn]] inline void refuse(std::string_view part, std::string_view text, const std::source_location& where) {
    if (where.line() == 0) throw Error(ErrorKind::graph, part, text);
    throw Error(ErrorKind::graph, part, text, where);
}

}  // namespace cairn::ir
