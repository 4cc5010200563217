#pragma once

#include "cairn/kernel.hpp"

#include <string>
#include <vector>

namespace cairn::kernels {

/// A function that is mistaken for a definition but differs from it. It is matched only to explain why a value is no
/// match.
struct NearMiss {
    Definition definition;  ///< named after the definition it is mistaken for
    std::string reason;
};

/// The near misses that programs and published models are known to contain.
///
///     (x - m) * rsqrt(mean(x * x) - m * m + eps)   for layer_norm: loses the digits of the variance
std::vector<NearMiss> near_misses();

}  // namespace cairn::kernels
