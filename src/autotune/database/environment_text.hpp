#pragma once

#include "cairn/features.hpp"
#include "cairn/timing_db.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::autotune {

/// The parsed hard part of an environment: the fields that determine how similar two machines are.
struct EnvironmentText {
    std::string version, vendor, name, model, build;  ///< `version`: Cairn's
    std::array<std::int64_t, 3> caches{};             ///< bytes of L1d, L2, L3
    FeatureSet features;                              ///< in use
    int threads = 1;
};

/// Parses the hard text that environment_of() writes; nothing for any other text, which is similar to no machine.
std::optional<EnvironmentText> parse_environment(std::string_view hard);

/// Short name for users: `AMD EPYC 9655, avx2+avx512, 2 threads`.
std::string short_name(const EnvironmentText& environment);

/// Distance between two environments, compared lexicographically: the smaller it is, the better times of one predict
/// those of the other. First what decides which kernels win: the features (a machine with more has the same kernels,
/// one with fewer lacks some), then threads, then the vendor and the caches; last what scales all times alike.
struct EnvironmentDistance {
    int features = 0;
    double threads = 0;
    int vendor = 0;
    double caches = 0;
    int name = 0, build = 0;
    friend auto operator<=>(const EnvironmentDistance&, const EnvironmentDistance&) = default;
};
EnvironmentDistance environment_distance(const EnvironmentText& own, const EnvironmentText& other);

}  // namespace cairn::autotune
