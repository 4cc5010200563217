#pragma once

#include "apps/jinja/syntax.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cairn::jinja {

/// The text of a template with these values. Throws Error (argument) for `raise_exception` and for values that do not
/// fit, Error (unsupported) for what is not known.
MarkedText render(const std::vector<Statement>& statements, const std::vector<std::pair<std::string, Value>>& values);

}  // namespace cairn::jinja
