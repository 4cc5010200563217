#include "apps/text/clean_up.hpp"

#include "apps/text/replaced.hpp"

#include <string_view>
#include <utility>

namespace cairn::inline v0::text {

std::string clean_up(std::string text) {
    constexpr std::pair<std::string_view, std::string_view> patterns[] = {
        {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
        {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    for (const auto& [from, to] : patterns) text = replaced(text, from, to);
    return text;
}

}  // namespace cairn::inline v0::text
