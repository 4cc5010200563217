#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// What several families ask about the operands and attributes of a problem.
namespace cairn::kernels::cuda {

/// Why an operand is not plain memory with at most `rank` axes and a stride for each; empty if all are.
Refusal needs_plain_memory(const Problem& problem, std::size_t rank = 16);
/// The same, but inputs of f32 may be in partial sums.
Refusal needs_plain_memory_or_partial_sums(const Problem& problem);
/// LayoutInputs for inputs [first, first + count) in partial sums.
std::vector<LayoutInput> partial_sums_inputs(int count, int first = 0);

/// The layout of `parts` partial sums; empty, which is plain memory, for one.
std::string layout_of_parts(std::int64_t parts);

/// The expression of an element of f32 of an input: `name[offset]`, or the sum of its parts.
std::string element_text(const TensorDesc& input, const std::string& name, const std::string& offset);

/// Bytes of all operands at constant sizes; axes of stride 0 count once, and all parts of partial sums.
double bytes_of(const Problem& problem);

/// An axis, possibly negative, as an index from 0.
std::size_t axis_index(std::int64_t axis, std::size_t rank);

}  // namespace cairn::kernels::cuda
