#pragma once

#include "graph/ir/op_table.hpp"
#include "rewrite/simplify/rule.hpp"

#include <array>
#include <cstddef>
#include <string_view>

/// Helpers for rules that hold for a whole class of ops.
namespace cairn::simplify {

inline constexpr auto elementwise_ops = ir::ops_of<ir::OpClass::elementwise>;

/// Returns one rule for each of `ops`.
template <std::size_t N>
constexpr std::array<Rule, N> rules_for_each(std::string_view name, std::string_view law, std::string_view where,
                                             Rounding rounding, const std::array<ir::Op, N>& ops,
                                             std::optional<ir::NodeId> (*apply)(Rewriter&, ir::NodeId)) {
    std::array<Rule, N> rows{};
    for (std::size_t i = 0; i < N; ++i) rows[i] = Rule{name, law, where, rounding, ops[i], apply};
    return rows;
}

/// Concatenates arrays of rules.
template <std::size_t... Ns>
constexpr auto concat_rules(const std::array<Rule, Ns>&... parts) {
    std::array<Rule, (Ns + ...)> rows{};
    std::size_t at = 0;
    const auto append = [&](const auto& part) {
        for (const Rule& rule : part) rows[at++] = rule;
    };
    (append(parts), ...);
    return rows;
}

}  // namespace cairn::simplify
