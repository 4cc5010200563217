#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn::cli {

/// Elements generated from a seed and a name: equal on all machines, different for different names.
struct ElementKind {
    DType dtype = DType::f32;
    double scale = 1;        ///< floats are in -scale .. scale
    std::int64_t below = 8;  ///< integers are in 0 .. below - 1
};
std::vector<std::byte> seeded_elements(std::uint64_t seed, std::string_view name, std::size_t count,
                                       const ElementKind& kind);

/// The bits of `value` rounded to f16 towards zero; 0 below 2^-14. Requires |value| < 2^15.
std::uint16_t f16_bits(float value);

}  // namespace cairn::cli
