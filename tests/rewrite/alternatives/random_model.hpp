#pragma once

#include "cairn/graph.hpp"

#include <cstdint>

namespace cairn::test {

/// Random model: blocks of norms, products with bound matrices of any width and rank, adapters, biases, factors,
/// movement and residuals, in usual and unusual combinations. Inputs are [N,4] or [N,3,4] with N in 0..4.
Graph random_model(std::uint64_t seed);

}  // namespace cairn::test
