#include "autotune/database/rules.hpp"

#include <map>
#include <string>
#include <utility>

namespace cairn::inline v0 {

std::string_view to_string(RuleAction action) noexcept { return action == RuleAction::ban ? "ban" : "pin"; }

bool KernelRule::covers(std::string_view kernel_id, std::string_view problem_text) const noexcept {
    return autotune::matches(kernel, kernel_id) && autotune::matches(problem, problem_text);
}

}  // namespace cairn::inline v0

namespace cairn::autotune {

bool matches(std::string_view pattern, std::string_view text) noexcept {
    // Position of the last `*`, and how much of the text it has consumed so far.
    std::size_t at = 0, star = std::string_view::npos, matched = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            matched = i;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
            ++at;
            ++i;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            i = ++matched;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::vector<KernelRule> rules_in_force(const std::vector<RuleRow>& rows) {
    std::map<std::pair<std::string, std::string>, const RuleRow*> latest;
    for (const RuleRow& row : rows) {
        const RuleRow*& known = latest[{row.rule.kernel, row.rule.problem}];
        if (known == nullptr || row.time >= known->time) known = &row;
    }
    std::vector<KernelRule> rules;
    for (const auto& [patterns, row] : latest)
        if (!row->is_lifted) rules.push_back(row->rule);
    return rules;
}

}  // namespace cairn::autotune
