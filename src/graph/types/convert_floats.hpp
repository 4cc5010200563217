#pragma once

#include "cairn/types.hpp"

#include <cstddef>

namespace cairn::types {

/// Converts `count` elements from one float dtype to another, rounding to nearest, ties to even. Throws InternalError
/// unless both dtypes are floats.
void convert_floats(std::byte* to, DType to_dtype, const std::byte* from, DType from_dtype, std::size_t count);

}  // namespace cairn::types
