#pragma once

#include "apps/models/config_file.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Entries of a configuration that choose among names, and entries that must have one of few values.
namespace cairn::inline v0::models {

/// A value and its name in a file.
template <typename T>
struct NamedChoice {
    std::string_view name;
    T value;
};

/// The value of a name that the entry has. Throws Error(unsupported) for another name: `entry "beta_schedule" is
/// "sigmoid", expected linear, scaled_linear or squaredcos_cap_v2`.
template <typename T, std::size_t N>
T choice_of(const ConfigFile& file, std::string_view key, std::string_view name, const NamedChoice<T> (&choices)[N]) {
    const auto found = std::ranges::find(choices, name, &NamedChoice<T>::name);
    if (found != std::end(choices)) return found->value;
    std::string known;
    for (std::size_t i = 0; i < N; ++i)
        known += (i == 0 ? "" : i + 1 < N ? ", " : " or ") + std::string(choices[i].name);
    file.unsupported("entry \"" + std::string(key) + "\" has \"" + std::string(name) + "\", expected " + known);
}

/// The value of the entry's name, or of `default_name` if the entry is absent.
template <typename T, std::size_t N>
T choice_in(const ConfigFile& file, std::string_view key, const NamedChoice<T> (&choices)[N],
            std::string_view default_name) {
    return choice_of(file, key, file.text(key, default_name), choices);
}

/// Throws Error(unsupported) if the entry is present and is none of the given JSON texts: `"thresholding": true is not
/// supported`.
inline void refuse_unless(const ConfigFile& file, std::string_view key,
                          std::initializer_list<std::string_view> allowed) {
    const std::string found = file.shown(key);
    if (!found.empty() && std::ranges::find(allowed, std::string_view(found)) == allowed.end())
        file.unsupported("\"" + std::string(key) + "\": " + found + " is not supported");
}

/// Height and width of square images: the entry is a number, or a list of two that are equal.
inline std::int64_t square_size(const ConfigFile& file, const char* key,
                                std::optional<std::int64_t> default_value = {}) {
    if (!file.shown(key).starts_with('[')) return file.size(key, default_value);
    const std::vector<std::int64_t> sizes = file.sizes(key);
    if (sizes.size() != 2 || sizes[0] != sizes[1])
        file.unsupported("\"" + std::string(key) + "\": " + file.shown(key) + " is not supported, expected a square");
    return sizes[0];
}

}  // namespace cairn::inline v0::models
