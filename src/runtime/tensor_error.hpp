#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <functional>

/// How far the results of one program are from those of another.
namespace cairn::runtime {

/// Called with each stretch of memory that holds elements of a tensor, in both programs.
using CompareSegment = std::function<void(const std::byte* got, const std::byte* wanted, std::size_t bytes)>;
/// Goes through all stretches of a tensor, in the same order each time it is asked.
using ForEachSegment = std::function<void(const CompareSegment&)>;

/// The error of a tensor as tolerances count: the larger of the relative L2 error and a tenth of the largest
/// |y - r| / max(|r|, RMS r). Infinite where an integer or boolean differs, or one is NaN or infinite and the other is
/// not the same; 0 of a tensor without elements.
///
///     got 1 2.2 NaN, wanted 1 2 NaN   ->   max(0.2 / sqrt(5), 0.2 / 2 / 10) = 0.089
double tensor_error(DType dtype, const ForEachSegment& for_each_segment);

}  // namespace cairn::runtime
