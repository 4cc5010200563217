#pragma once

#include "cairn/context.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// The atomic ops of a problem in text form, in order, with equal neighbours counted: `matmul add` for a linear with a
/// bias. Omits leaves, and ops that only move elements if there are others. Empty for a problem without a reference
/// graph.
std::string problem_ops(std::string_view problem, const Context& context);

}  // namespace cairn::cli
