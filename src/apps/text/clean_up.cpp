#include "apps/text/clean_up.hpp"

#include <string_view>
#include <utility>

namespace cairn::inline v0::text {

namespace {

std::string replaced(const std::string& text, std::string_view from, std::string_view to) {
    std::string result;
    std::size_t start = 0;
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, start)) {
        result.append(text, start, at - start).append(to);
        start = at + from.size();
    }
    return result.append(text, start);
}

}  // namespace

std::string clean_up(std::string text) {
    constexpr std::pair<std::string_view, std::string_view> patterns[] = {
        {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
        {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    for (const auto& [from, to] : patterns) text = replaced(text, from, to);
    return text;
}

}  // namespace cairn::inline v0::text
