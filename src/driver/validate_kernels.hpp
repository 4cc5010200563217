#pragma once

#include "cairn/kernel.hpp"

namespace cairn::driver {

/// Throws Error(argument) naming the definition, layout or kernel of `extra` that cannot be used beside `known`: names
/// that are ill-formed or taken, functions that are missing, text forms that do not parse, operands, definitions and
/// layouts that do not exist.
void validate_kernels(const KernelSet& extra, const KernelSet& known);

}  // namespace cairn::driver
