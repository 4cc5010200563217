#pragma once

#include "tune/rivals.hpp"

#include <cstddef>
#include <vector>

/// Which measurements are worth most where there is time for few.
namespace cairn::inline v0::tune {

/// Of unknown rivals in their order those first of a call that takes a hundredth or more of what its bucket takes by
/// `plan`, and than which another may be faster, as estimates say: what was measured so far makes no difference, so
/// that a second tune asks for the same. How many these are.
std::size_t costly_in_doubt_first(std::vector<Rivals>& all, std::span<const select::Bucket> buckets,
                                  const select::Selections& plan, const select::CostSource& estimates);

}  // namespace cairn::inline v0::tune
