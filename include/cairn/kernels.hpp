#pragma once

#include "cairn/kernel.hpp"

namespace cairn::inline v0 {

/// The built-in definitions, packed layouts and CPU kernels of every level, in order of preference; the reference
/// kernels, which accept every legal Problem of an atomic op, come last. A Context uses those whose level the CPU has.
CAIRN_API KernelSet cpu_kernels();

}  // namespace cairn::inline v0
