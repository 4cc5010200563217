#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cairn/problem.hpp"

namespace cairn::types {

/// SipHash-2-4 with 128 bits of output (J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", 2012,
/// and the authors' 128-bit variant), byte order fixed. `low` holds the first eight bytes of the published output,
/// `high` the last eight.
Digest siphash128(std::span<const std::byte> data, std::uint64_t key0, std::uint64_t key1) noexcept;

}  // namespace cairn::types
