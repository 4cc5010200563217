#pragma once

#include "cairn/graph.hpp"

#include <cstdint>

namespace cairn::test {

/// Layers of one random make, as models have them: norms, products, activations, attention, residuals. Here and there
/// one differs: in a number, in what it computes, in what it shares with others or gives out.
Graph random_layers(std::uint64_t seed, int layers);

}  // namespace cairn::test
