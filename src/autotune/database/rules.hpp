#pragma once

#include "autotune/database/rows.hpp"

#include <string_view>
#include <vector>

namespace cairn::autotune {

/// `*` is any text, `?` any character.
bool matches(std::string_view pattern, std::string_view text) noexcept;

/// Of all rows for the same patterns the latest, if it is not lifted; in the order of patterns.
std::vector<KernelRule> rules_in_force(const std::vector<RuleRow>& rows);

}  // namespace cairn::autotune
