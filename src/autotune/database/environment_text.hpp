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

/// What an environment's hard part says, as far as it tells how near two machines are.
struct EnvironmentText {
    std::string version, vendor, name, model, build;  ///< `version`: of Cairn
    std::array<std::int64_t, 3> caches{};             ///< bytes of L1d, L2, L3
    FeatureSet features;                              ///< in use
    int threads = 1;
};

/// Reads what environment_of writes. Nothing for another text: it is near nothing.
std::optional<EnvironmentText> parse_environment(std::string_view hard);

/// What a user calls it: `AMD EPYC 9655, avx2+avx512, 2 threads`.
std::string short_name(const EnvironmentText& environment);

/// How far the times of one environment are from telling what another's would be: smaller is nearer. First what decides
/// which kernels win: the features (one with more has the same kernels, one with less lacks some), then threads, then
/// the maker and the caches; last what changes all times alike.
struct EnvironmentDistance {
    int features = 0;
    double threads = 0;
    int vendor = 0;
    double caches = 0;
    int name = 0, build = 0;
    friend auto operator<=>(const EnvironmentDistance&, const EnvironmentDistance&) = default;
};
EnvironmentDistance environment_distance(const EnvironmentText& here, const EnvironmentText& there);

}  // namespace cairn::autotune
