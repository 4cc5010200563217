#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <functional>

/// Combination of hashes within one process. (Stored hashes are digests: siphash.hpp.)
namespace cairn::types {

/// `seed` combined with one more hash.
inline std::size_t hash_combined(std::size_t seed, std::size_t value) noexcept {
    return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}
inline void hash_combine(std::size_t& seed, std::size_t value) noexcept { seed = hash_combined(seed, value); }

/// Dims are interned, so the address of the node identifies a Dim.
inline std::size_t hash_of(const Dim& dim) {
    return dim.is_constant() ? std::hash<std::int64_t>{}(dim.constant()) : std::hash<const void*>{}(dim.node());
}
inline void hash_combine(std::size_t& seed, const std::vector<Dim>& dims) {
    hash_combine(seed, dims.size());
    for (const Dim& dim : dims) hash_combine(seed, hash_of(dim));
}

}  // namespace cairn::types
