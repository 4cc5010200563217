#pragma once

#include "cairn/graph.hpp"

#include <cstdint>

namespace cairn::test {

/// Blocks of norms, products with bound matrices of any width and rank, what adapts them, biases, factors, movement and
/// residuals, as models have them and as none has. Inputs are [N,4] or [N,3,4] with N in 0..4.
Graph random_model(std::uint64_t seed);

}  // namespace cairn::test
