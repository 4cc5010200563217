#pragma once

#include "cairn/models/checkpoint.hpp"

#include <cstdint>
#include <vector>

/// Pseudo-random weights, to run full-size models without a download: splitmix64 (Steele et al., OOPSLA 2014) of the
/// tensor's position in the list and the element's index. tests/golden/full_size_random.json has the results of the
/// reference implementation with these weights.
///
///     z = mix(tensor * 2^32 + element + 1);  k = top b bits of z;  value = base + (2 k + 1 - 2^b) * 2^e
///
/// matrices: base 0, b = 11, e = -15; biases: base 0, b = 11, e = -17; norm weights: base 1, b = 7, e = -10.
namespace synthetic {

/// mix(tensor * 2^32 + element + 1), all 64 bits.
std::uint64_t hash(std::uint64_t tensor, std::uint64_t element);

/// A WeightSource that computes each tensor on request and frees it on release. The list must be in the order of the
/// state dictionary and must outlive the source.
cairn::WeightSource source(const std::vector<cairn::models::WeightSpec>& weights);

}  // namespace synthetic
