#pragma once

#include "cairn/types.hpp"

#include <string>

namespace cairn::kernels::cuda {

/// A size as an expression of CUDA C++ of type i64: symbol i is `s<i>`, a constant of the kernel (kernel_source). It
/// needs no parentheses around it.
///
///     3 + 2*N   ->   (3 + 2 * s0)
std::string size_text(const Dim& size);

/// True if the size is proved to be a multiple of `factor`, a positive number.
bool is_multiple(const Dim& size, std::int64_t factor);

}  // namespace cairn::kernels::cuda
