#pragma once

#include "cairn/context.hpp"
#include "cairn/explanation.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// What runs, for Graphviz: a box an instruction with what it computes, its kernel and time, what is done once dashed;
/// an oval for each input, state and output; weights as plain words. A cluster for each bucket.
std::string graphviz_text(std::string_view name, const Explanation& why, const Context& context);

}  // namespace cairn::cli
