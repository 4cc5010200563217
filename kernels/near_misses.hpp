#pragma once

#include "cairn/kernel.hpp"

#include <string>
#include <vector>

namespace cairn::kernels {

/// A function that is taken for a definition and is another one. It is looked for only to tell why a value is no match.
struct NearMiss {
    Definition definition;  ///< named after the one it is taken for
    std::string reason;
};

/// Those that programs and published models are known to hold.
///
///     (x - m) * rsqrt(mean(x * x) - m * m + eps)   for layer_norm: loses the digits of the variance
std::vector<NearMiss> near_misses();

}  // namespace cairn::kernels
