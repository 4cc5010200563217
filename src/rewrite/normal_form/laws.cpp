#include "rewrite/normal_form/laws.hpp"

#include <array>

namespace cairn::normal_form {
namespace {

// docs/decisions/0018-exact-tolerance-and-error-budget.md derives the bounds.
constexpr std::array<LawInfo, 3> table{{
    {Law::distributed, "distributed",
     "as exact, of the terms multiplied out: a sum of n terms times a factor has up to 2 n + 16 eps instead of n + 16"},
    {Law::masked, "masked", "none: equal bits while a score is below 3.7e22 in f32 and 7e13 in f64"},
    {Law::reassociated, "reassociated",
     "(k + l + 2) eps of the sum of the absolute values of the k l terms of a product of three matrices"},
}};

}  // namespace

std::span<const LawInfo> law_table() { return table; }

std::string to_string(Laws laws) {
    std::string text;
    for (const LawInfo& row : table)
        if (laws.has(row.law)) text += (text.empty() ? "" : " ") + std::string(row.name);
    return text.empty() ? "exact" : text;
}

}  // namespace cairn::normal_form
