#pragma once

#include "cairn/types.hpp"

#include <vector>

namespace cairn::types {

/// True for the strides of dense row-major memory. Strides of axes of size 1 are ignored.
bool are_dense_strides(const Shape& shape, const std::vector<Dim>& strides);

}  // namespace cairn::types
