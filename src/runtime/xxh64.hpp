#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cairn::runtime {

/// The XXH64 hash with seed 0 (Yann Collet, the xxHash specification, version 0.1.1). Detects every change that is
/// confined to eight bytes which begin at a multiple of 8.
///
///     xxh64("abc") = 0x44bc2cf5ad770999
std::uint64_t xxh64(std::span<const std::byte> bytes) noexcept;

}  // namespace cairn::runtime
