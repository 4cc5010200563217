#pragma once

#include "cairn/context.hpp"

#include <string>

namespace cairn::test {

/// Options of a context with a computed layout and kernels that use it. A value in `parts.P` is P dense tensors, one
/// after another, whose sum it is. Kernels of f32 for neg, abs, exp, tanh, add, sub, mul and matmul write it, and read
/// it at every input; one for copy reads it. They cost nothing, so they are chosen wherever they can be.
///
///     own.parts.exp@1: exp | f32[4,N]@parts.2 -> f32[4,N]@parts.3
ContextOptions with_layout_kernels();

/// The number of parts in which these kernels write a tensor of that rank.
int parts_of_rank(std::size_t rank);

}  // namespace cairn::test
