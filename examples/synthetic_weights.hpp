#pragma once

#include "cairn/models/checkpoint.hpp"

#include <cstdint>
#include <vector>

/// Weights made from integers alone, for trying full-size models without a download: splitmix64 (Steele et al., OOPSLA
/// 2014) of the tensor's position in the list and the element's index. tests/golden/full_size_random.json holds what
/// the reference implementation computes with them.
///
///     z = mix(tensor * 2^32 + element + 1);  k = top b bits of z;  value = base + (2 k + 1 - 2^b) * 2^e
///
/// matrices: base 0, b 11, e -15; biases: 0, 11, -17; norm weights: 1, 7, -10.
namespace synthetic {

/// mix(tensor * 2^32 + element + 1), the whole of it.
std::uint64_t hash(std::uint64_t tensor, std::uint64_t element);

/// Makes each tensor when it is asked for, and frees it when it is released. The list must be in state dictionary order
/// and outlive the source.
cairn::WeightSource source(const std::vector<cairn::models::WeightSpec>& weights);

}  // namespace synthetic
