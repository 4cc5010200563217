#include "cairn/features.hpp"

#include "graph/types/isa_levels.hpp"

#include <array>
#include <ostream>

namespace cairn::inline v0 {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, feature_count> feature_names = {
    "avx2", "avx512", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8"};

constexpr std::string_view no_features = "baseline";

}  // namespace

std::string_view to_string(Feature feature) noexcept { return feature_names[static_cast<std::size_t>(feature)]; }

std::string to_string(FeatureSet features) {
    std::string text;
    for (const Feature feature : all_features)
        if (features.has(feature)) text.append(text.empty() ? "" : "+").append(to_string(feature));
    return text.empty() ? std::string(no_features) : text;
}

std::ostream& operator<<(std::ostream& out, FeatureSet features) { return out << to_string(features); }

std::optional<FeatureSet> parse_features(std::string_view text) noexcept {
    FeatureSet features;
    if (text == no_features) return features;
    while (true) {
        const std::size_t end = text.find('+');
        FeatureSet found;
        for (const Feature feature : all_features)
            if (text.substr(0, end) == to_string(feature)) found = {feature};
        if (found.empty()) return std::nullopt;
        features = features | found;
        if (end == text.npos) return features;
        text.remove_prefix(end + 1);
    }
}

FeatureSet missing_prerequisites(FeatureSet features) noexcept {
    FeatureSet missing;
    for (const Feature feature : all_features)
        if (features.has(feature)) missing = missing | (implied_by(feature) - features);
    return missing;
}

std::string_view isa_level_name(FeatureSet needs) noexcept {
    std::string_view name = no_features;
    for (const Feature feature : all_features)
        if (needs.has(feature)) name = to_string(feature);
    return name;
}

}  // namespace cairn::inline v0
