#pragma once

#include "tests/kernels/cuda/kernel_cases.hpp"

#include <vector>

/// The results of problems at constant sizes, by plain loops in double.
namespace cairn::kernels::cuda {

/// A reduction, softmax or norm whose axes are the last `axes`.
std::vector<Numbers> row_reference(const Problem& problem, const std::vector<Numbers>& inputs, std::size_t axes);
/// A matmul, or a fused problem whose body has biases, residuals and activations.
std::vector<Numbers> product_reference(const Problem& problem, const std::vector<Numbers>& inputs);
/// Attention.
Numbers attention_reference(const Problem& problem, const std::vector<Numbers>& inputs);

/// The results of any problem by its definition, evaluated in double; operands in partial sums by their sums.
std::vector<Numbers> definition_reference(const Problem& problem, const std::vector<Numbers>& inputs);
/// The values that the elements of an operand hold: the sums of the parts of partial sums, added in double.
Numbers sums_of(const TensorDesc& tensor, const Numbers& elements);
/// random_inputs(), with matrices divided by the root of their rows, and all numbers rounded to their dtype.
std::vector<Numbers> weights_like_inputs(const Problem& problem, std::uint64_t seed);

/// Makes elements equal that have one place in memory, along axes of stride 0.
void repeat_elements(const Problem& problem, std::vector<Numbers>& inputs);

}  // namespace cairn::kernels::cuda
