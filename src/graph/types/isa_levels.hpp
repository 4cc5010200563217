#pragma once

#include "cairn/features.hpp"

#include <array>
#include <string_view>

namespace cairn::inline v0 {

/// All features, in the order of the enumeration.
inline constexpr std::array<Feature, feature_count> all_features = [] {
    std::array<Feature, feature_count> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Feature>(i);
    return all;
}();

/// The features that the set lacks but its features require.
///
///     avx512+avx512_vnni   ->   avx2
FeatureSet missing_prerequisites(FeatureSet features) noexcept;

/// The name of an instruction set level in kernel ids: the last feature of the set. `avx2+avx512` -> `avx512`
std::string_view isa_level_name(FeatureSet needs) noexcept;

}  // namespace cairn::inline v0
