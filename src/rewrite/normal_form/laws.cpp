#include "rewrite/normal_form/laws.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace cairn::normal_form {
namespace {

constexpr std::array<std::pair<Law, std::string_view>, 3> names{{
    {Law::distributed, "distributed"},
    {Law::masked, "masked"},
    {Law::reassociated, "reassociated"},
}};

}  // namespace

std::string to_string(Laws laws) {
    std::string text;
    for (const auto& [law, name] : names)
        if (laws.has(law)) text += (text.empty() ? "" : " ") + std::string(name);
    return text.empty() ? "exact" : text;
}

}  // namespace cairn::normal_form
