#pragma once

#include "cairn/kernel.hpp"

namespace cairn::test {

/// Products of f32 matrices from operands rounded to bf16: fast, as it says, and off by about 2e-3. It promises 5e-3.
Kernel inexact_product();
/// The same, promising 1e-4.
Kernel lying_product();

}  // namespace cairn::test
