#pragma once

#include "cairn/kernel.hpp"

namespace cairn::test {

/// A definition that reads two states together with the rows that it computes and returns, and a kernel for it that
/// takes operands and results of any strides:
///
///     attend(x, w, u, keys, values) -> y, k, v     k = x w   v = x u   y = exp(x concat(keys, k)^T) concat(values, v)
KernelSet attending_kernels();

}  // namespace cairn::test
