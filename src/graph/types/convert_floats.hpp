#pragma once

#include "cairn/types.hpp"

#include <cstddef>

namespace cairn::types {

/// Writes `count` numbers of one float dtype in another, each rounded to nearest, ties to even. Throws InternalError
/// for dtypes that are no floats.
void convert_floats(std::byte* to, DType to_dtype, const std::byte* from, DType from_dtype, std::size_t count);

}  // namespace cairn::types
