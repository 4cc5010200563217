#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <functional>

/// Declares the error of one program's results against those of another.
namespace cairn::runtime {

/// Called with each contiguous segment of a tensor's elements, in both programs.
using CompareSegment = std::function<void(const std::byte* got, const std::byte* wanted, std::size_t bytes)>;
/// Visits all segments of a tensor, in the same order on every call.
using ForEachSegment = std::function<void(const CompareSegment&)>;

/// ErrorNorms::combined() of a tensor: the error as tolerances define it. Infinite if an integer or boolean differs, or
/// if one number is NaN or infinite and the other is not the same; 0 for a tensor without elements.
///
///     got 1 2.2 NaN, wanted 1 2 NaN   ->   max(0.2 / sqrt(5), 0.2 / 2 / 10) = 0.089
double tensor_error(DType dtype, const ForEachSegment& for_each_segment);

}  // namespace cairn::runtime
