#include "io/suggest_names/suggest_names.hpp"

#include "io/mapped_file/file_error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cairn::files {

namespace {

/// Levenshtein distance of the first 200 bytes, which is enough for a message.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    constexpr std::size_t longest = 200;
    a = a.substr(0, longest);
    b = b.substr(0, longest);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

bool ends_with_components(std::string_view name, std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending) && name[name.size() - ending.size() - 1] == '.';
}

/// True for "a.b.c" and "b.c", and for "a.b.c" and "x.b.c", which have two or more components in common.
bool differ_at_the_start_only(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return false;
    if (ends_with_components(a, b) || ends_with_components(b, a)) return true;
    const std::size_t dot_of_a = a.find('.'), dot_of_b = b.find('.');
    if (dot_of_a == a.npos || dot_of_b == b.npos) return false;
    const std::string_view tail = a.substr(dot_of_a + 1);
    return tail == b.substr(dot_of_b + 1) && tail.find('.') != tail.npos;
}

}  // namespace

std::vector<std::string_view> suggest_names(std::string_view wanted, const std::vector<std::string_view>& names,
                                            std::size_t most) {
    using Rank = std::pair<bool, std::size_t>;
    std::vector<std::pair<Rank, std::string_view>> ranked;
    ranked.reserve(names.size());
    for (const std::string_view name : names)
        ranked.emplace_back(Rank(!differ_at_the_start_only(wanted, name), edit_distance(wanted, name)), name);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    ranked.resize(std::min(ranked.size(), most));
    std::vector<std::string_view> nearest;
    for (const auto& [rank, name] : ranked) nearest.push_back(name);
    return nearest;
}

std::string suggestion_text(std::string_view wanted, const std::vector<std::string_view>& names,
                            std::string_view what) {
    constexpr std::size_t most = 4;
    if (names.empty()) return "it has no " + std::string(what);
    std::string list;
    for (const std::string_view name : suggest_names(wanted, names, most))
        list += (list.empty() ? "" : ", ") + files::printable(name);
    const std::string count = std::to_string(names.size()) + " " + std::string(what);
    return (names.size() <= most ? "its " : "the nearest of its ") + count + " are " + list;
}

}  // namespace cairn::files
