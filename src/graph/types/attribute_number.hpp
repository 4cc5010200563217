#pragma once

#include "cairn/problem.hpp"

#include <string_view>

namespace cairn::types {

/// The attribute `name` as a number, written as a number or as a list of one constant integer; `otherwise` if there is
/// no such attribute. Throws Error(argument) for another list.
double number_or(const Attributes& attributes, std::string_view name, double otherwise);

}  // namespace cairn::types
