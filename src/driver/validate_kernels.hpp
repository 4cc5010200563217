#pragma once

#include "cairn/kernel.hpp"

namespace cairn::driver {

/// Checks the kernels, definitions and layouts of `extra` for use with `known`. Throws Error(argument) naming the one
/// at fault: ill-formed or duplicate names, missing functions, text forms that do not parse, and operands, definitions
/// or layouts that do not exist.
void validate_kernels(const KernelSet& extra, const KernelSet& known);

}  // namespace cairn::driver
