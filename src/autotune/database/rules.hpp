#pragma once

#include "autotune/database/rows.hpp"

#include <string_view>
#include <vector>

namespace cairn::autotune {

/// True if a text matches a pattern in which `*` is any text and `?` any character.
bool matches(std::string_view pattern, std::string_view text) noexcept;

/// The rules in force: the latest row for each pair of patterns, unless it removes the rule. Ordered by patterns.
std::vector<KernelRule> rules_in_force(const std::vector<RuleRow>& rows);

}  // namespace cairn::autotune
