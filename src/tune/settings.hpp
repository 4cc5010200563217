#pragma once

#include "tune/rivals.hpp"

#include <set>
#include <span>
#include <string>
#include <vector>

/// Which settings of kernels are to be measured, once the best ways are known.
namespace cairn::inline v0::tune {

/// Of the chosen candidates those whose kernels have settings that nothing is known of at some sizes: the first one in
/// front, known or not, and those. None that was `tried` is among them.
std::vector<Rivals> unknown_settings(std::span<const select::Bucket> buckets, const select::Selections& selections,
                                     const select::CostSource& costs, const std::set<std::string>& tried);

/// Of these those that may be faster than what is known, and the first once more: small differences show side by side
/// only. Empty where none may be.
Field field_of_settings(const Rivals& settings, const select::CostSource& costs);

}  // namespace cairn::inline v0::tune
