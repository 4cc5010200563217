#pragma once

#include "cairn/types.hpp"

#include <vector>

namespace cairn::inline v0::types {

/// True for the strides of dense row-major memory. Those of axes of one element may be anything.
bool are_dense(const Shape& shape, const std::vector<Dim>& strides);

}  // namespace cairn::inline v0::types
