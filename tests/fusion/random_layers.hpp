#pragma once

#include "cairn/graph.hpp"

#include <cstdint>

namespace cairn::test {

/// Layers of one random structure, as in models: norms, products, activations, attention, residuals. Some of them
/// differ in a number, in an op, in a weight shared with another layer or in an additional output.
Graph random_layers(std::uint64_t seed, int layers);

}  // namespace cairn::test
