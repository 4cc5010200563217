#pragma once

#include "cairn/kernel.hpp"

namespace cairn::inline v0 {

/// The built-in definitions, packed layouts and CPU kernels of all instruction set levels, in order of preference. The
/// reference kernels, which accept every legal Problem of an atomic op, come last. A Context uses those that the CPU
/// supports.
CAIRN_API KernelSet cpu_kernels();

}  // namespace cairn::inline v0
