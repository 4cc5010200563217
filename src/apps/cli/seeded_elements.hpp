#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn::cli {

/// Elements made from a seed and a name: the same on every machine, others for other names.
struct ElementKind {
    DType dtype = DType::f32;
    double scale = 1;        ///< floats lie in -scale .. scale
    std::int64_t below = 8;  ///< integers lie in 0 .. below - 1
};
std::vector<std::byte> seeded_elements(std::uint64_t seed, std::string_view name, std::size_t count,
                                       const ElementKind& kind);

/// The bits of the f16 next to `value` towards zero; below 2^-14 it is 0. For |value| < 2^15.
std::uint16_t f16_bits(float value);

}  // namespace cairn::cli
