#pragma once

#include "cairn/features.hpp"

#include <array>
#include <string_view>

namespace cairn::inline v0 {

/// Each of them, in order.
inline constexpr std::array<Feature, feature_count> all_features = [] {
    std::array<Feature, feature_count> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Feature>(i);
    return all;
}();

/// What features of a set stand on and it lacks.
///
///     avx512+avx512_vnni   ->   avx2
FeatureSet missing_prerequisites(FeatureSet features) noexcept;

/// What ids of kernels call code that needs these: the last of them. `avx2+avx512` -> `avx512`
std::string_view isa_level_name(FeatureSet needs) noexcept;

}  // namespace cairn::inline v0
