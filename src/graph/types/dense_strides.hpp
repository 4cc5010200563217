#pragma once

#include "cairn/types.hpp"

#include <vector>

namespace cairn::types {

/// True for the strides of dense row-major memory. Those of axes of one element may be anything.
bool are_dense_strides(const Shape& shape, const std::vector<Dim>& strides);

}  // namespace cairn::types
