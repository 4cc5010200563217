#pragma once

#include "cairn/kernel.hpp"

/// What several families ask about the operands and attributes of a problem.
namespace cairn::kernels::cuda {

/// Why an operand is not plain memory with at most `rank` axes and a stride for each; empty if all are.
Refusal needs_plain_memory(const Problem& problem, std::size_t rank = 16);

/// Bytes of all operands at constant sizes; axes of stride 0 count once.
double bytes_of(const Problem& problem);

/// An axis, possibly negative, as an index from 0.
std::size_t axis_index(std::int64_t axis, std::size_t rank);

}  // namespace cairn::kernels::cuda
