#include "driver/abbreviated_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cairn::driver {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name split at its numbers: the texts between them, and the numbers.
struct Parts {
    std::vector<std::string> texts{""}, numbers;
};

Parts parts_of(std::string_view name) {
    Parts parts;
    for (std::size_t i = 0; i < name.size();) {
        std::size_t end = i;
        while (end < name.size() && is_digit(name[end])) ++end;
        if (end == i) {
            parts.texts.back() += name[i++];
            continue;
        }
        parts.numbers.emplace_back(name.substr(i, end - i));
        parts.texts.emplace_back();
        i = end;
    }
    return parts;
}

bool is_less(const std::string& a, const std::string& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); }

/// The common text of all names, with the one number that differs as a range; empty if more than one differs.
std::string as_range(const std::vector<Parts>& all) {
    std::string text;
    int differing = 0;
    for (std::size_t i = 0; i < all[0].texts.size(); ++i) {
        text += all[0].texts[i];
        if (i == all[0].numbers.size()) break;
        std::set<std::string> values;
        for (const Parts& parts : all) values.insert(parts.numbers[i]);
        const auto [low, high] = std::minmax_element(values.begin(), values.end(), is_less);
        text += values.size() == 1 ? *low : fmt::format("{}..{}", *low, *high);
        differing += values.size() > 1 ? 1 : 0;
    }
    return differing > 1 ? std::string() : text;
}

}  // namespace

std::string abbreviated_names(const std::vector<std::string>& names, std::size_t most) {
    std::vector<std::vector<std::string>> order;  // by common texts, in order of first occurrence
    std::map<std::vector<std::string>, std::vector<Parts>> groups;
    for (const std::string& name : names) {
        Parts parts = parts_of(name);
        auto& group = groups[parts.texts];
        if (group.empty()) order.push_back(parts.texts);
        group.push_back(std::move(parts));
    }
    std::vector<std::string> abbreviated;
    for (const auto& texts : order) {
        const std::vector<Parts>& group = groups.at(texts);
        if (std::string range = as_range(group); !range.empty()) {
            abbreviated.push_back(std::move(range));
            continue;
        }
        for (const Parts& parts : group) {
            std::string& name = abbreviated.emplace_back();
            for (std::size_t i = 0; i < parts.texts.size(); ++i)
                name += parts.texts[i] + (i < parts.numbers.size() ? parts.numbers[i] : "");
        }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(most, abbreviated.size()); ++i) text += (i == 0 ? "" : ", ") + abbreviated[i];
    if (abbreviated.size() > most) text += fmt::format(" and {} more", abbreviated.size() - most);
    return text;
}

}  // namespace cairn::driver
