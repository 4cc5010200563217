#pragma once

#include "cairn/context.hpp"
#include "cairn/explanation.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// The programs as a Graphviz graph: a box for each instruction with its ops, kernel and time, dashed if it runs at
/// bind; an oval for each input, state and output; weights as plain text. A cluster for each bucket.
std::string graphviz_text(std::string_view name, const Explanation& why, const Context& context);

}  // namespace cairn::cli
