#pragma once

#include "cairn/context.hpp"

#include <string>
#include <string_view>

namespace cairn::cli {

/// The atomic ops that a problem, in text form, is made of, in their order, equal neighbours counted: of a linear with
/// a bias `matmul add`. Leaves, and what only moves elements, are left out where there is anything else. Empty for what
/// has no definition of its own.
std::string problem_ops(std::string_view problem, const Context& context);

}  // namespace cairn::cli
