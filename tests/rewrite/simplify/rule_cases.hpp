#pragma once

#include <ostream>
#include <span>
#include <string_view>

/// A test case of one rule: the lines of a graph before and after, without the header line. Symbols: N in 1..8, M in
/// 0..5.
struct RuleCase {
    std::string_view rule, before, after;
    friend std::ostream& operator<<(std::ostream& out, const RuleCase& one) { return out << one.rule; }
};

std::span<const RuleCase> algebra_cases();
std::span<const RuleCase> power_cases();
std::span<const RuleCase> logic_cases();
std::span<const RuleCase> reduction_cases();
std::span<const RuleCase> movement_cases();
std::span<const RuleCase> slicing_cases();
std::span<const RuleCase> constant_cases();
std::span<const RuleCase> cast_cases();
