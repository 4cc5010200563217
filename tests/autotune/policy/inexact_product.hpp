#pragma once

#include "cairn/kernel.hpp"

namespace cairn::test {

/// Products of f32 matrices from operands rounded to bf16: fast by its estimate, with an error of about 2e-3. It states
/// 5e-3.
Kernel inexact_product();
/// The same, stating 1e-4.
Kernel product_beyond_stated_error();

}  // namespace cairn::test
