#pragma once

#include "cairn/error.hpp"

#include <string>

namespace cairn::jinja {

/// Throws Error (argument) `[chat template] message`: the values do not fit the template.
[[noreturn]] inline void fault(const std::string& message) {
    throw Error(ErrorKind::argument, "chat template", message);
}

/// Throws Error (unsupported) `[chat template] message (line N)`: the template uses what is not known here.
[[noreturn]] inline void unsupported(const std::string& message, std::size_t line) {
    throw Error(ErrorKind::unsupported, "chat template", message + " (line " + std::to_string(line) + ")");
}

}  // namespace cairn::jinja
