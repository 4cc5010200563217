#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace cairn::fusion {

/// Two numbers at the same place of two forms of one structure: in the form that was made, and in the form that is
/// wanted.
struct CoefficientPair {
    double made, wanted;
};

/// The numbers of two forms that differ in numbers alone, place by place, in an order that depends on `wanted` alone;
/// nothing where the forms differ in more. Sums, maxima and linear ops are divided by the coefficient of the same part
/// in both, so that it does not matter which part the normal form scales to 1; the factor in front comes last.
///
///     4 * (x + y / 2)  and  3 * (x / 3 + y)   ->   {1, 1} {0.5, 3} {4, 1}
std::optional<std::vector<CoefficientPair>> coefficient_pairs(const normal_form::Normalizer& normalizer,
                                                              const normal_form::ScaledTerm& made,
                                                              const normal_form::ScaledTerm& wanted);

/// The pairs that a definition makes with these numbers in its holes; nothing where the forms differ in more.
using PairsOf = std::function<std::optional<std::vector<CoefficientPair>>(std::span<const double> numbers)>;

/// The numbers for which what is made is what is wanted, by the law that each place follows as one number changes: a
/// power (s^2), a line (2 s + 1), an exponential (e^s) or a logarithm. Numbers that only count together (a * b) are
/// told apart by setting the first to 1. Of an even power the positive root is given. `start` must hold positive
/// numbers. Nothing where the forms differ in more. Where places disagree about the last number, as they do when equal
/// parts may have been paired wrongly, there are several solutions, of which some are wrong.
///
///     start {0.0079}   4 s - 1 for 7   ->   {{2}}
std::vector<std::vector<double>> solve_numbers(const PairsOf& pairs_of, std::vector<double> start);

}  // namespace cairn::fusion
