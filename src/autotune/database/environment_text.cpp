#include "autotune/database/environment_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace cairn::autotune {
namespace {

/// Splits a text at ` | `.
std::vector<std::string_view> parts_of(std::string_view text) {
    constexpr std::string_view bar = " | ";
    std::vector<std::string_view> parts;
    for (std::size_t from = 0;;) {
        const std::size_t end = text.find(bar, from);
        parts.push_back(text.substr(from, end - from));
        if (end == text.npos) return parts;
        from = end + bar.size();
    }
}

/// The word that follows another: `64` of `threads 64 cpus [2x1]` for `threads`.
std::string_view word_after(std::string_view text, std::string_view word) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const bool is_it = text.substr(at, end - at) == word;
        at = end + 1;
        if (is_it && at < text.size()) return text.substr(at, text.find(' ', at) - at);
    }
    return {};
}

template <typename T>
bool read_number(std::string_view word, T& number) {
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
    return !word.empty() && fault == std::errc() && end == word.data() + word.size();
}

bool read_features(std::string_view word, FeatureSet& features) {
    const std::optional<FeatureSet> read = parse_features(word);
    features = read.value_or(features);
    return read.has_value();
}

/// |log2(a / b)|. An unknown cache size of 0 counts as 1 byte, far from any known size.
double doublings(std::int64_t a, std::int64_t b) {
    return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(a, 1))) -
                    std::log2(static_cast<double>(std::max<std::int64_t>(b, 1))));
}

}  // namespace

std::optional<EnvironmentText> parse_environment(std::string_view hard) {
    const std::vector<std::string_view> parts = parts_of(hard);
    if (parts.size() < 8 || !parts[0].starts_with("cairn ")) return std::nullopt;
    EnvironmentText read;
    read.version = parts[0].substr(6);
    read.vendor = parts[1];
    read.name = parts[2];
    read.model = parts[3];
    read.build = parts[7];
    const bool is_whole = read_number(word_after(parts[4], "L1d"), read.caches[0]) &&
                          read_number(word_after(parts[4], "L2"), read.caches[1]) &&
                          read_number(word_after(parts[4], "L3"), read.caches[2]) &&
                          read_features(parts[5].substr(0, parts[5].find(' ')), read.features) &&
                          read_number(word_after(parts[6], "threads"), read.threads) && read.threads >= 1;
    if (!is_whole) return std::nullopt;
    return read;
}

std::string short_name(const EnvironmentText& environment) {
    return fmt::format("{}, {}, {} {}", environment.name == "unknown" ? environment.vendor : environment.name,
                       to_string(environment.features), environment.threads,
                       environment.threads == 1 ? "thread" : "threads");
}

EnvironmentDistance environment_distance(const EnvironmentText& own, const EnvironmentText& other) {
    EnvironmentDistance distance;
    const int extra = (other.features - own.features).size(), missing = (own.features - other.features).size();
    distance.features = missing == 0 ? extra : static_cast<int>(feature_count) + missing + extra;
    distance.threads = std::abs(std::log2(static_cast<double>(other.threads) / own.threads));
    distance.vendor = own.vendor != other.vendor;
    for (std::size_t c = 0; c < own.caches.size(); ++c) distance.caches += doublings(own.caches[c], other.caches[c]);
    distance.name = own.name != other.name || own.model != other.model;
    distance.build = own.version != other.version || own.build != other.build;
    return distance;
}

}  // namespace cairn::autotune
