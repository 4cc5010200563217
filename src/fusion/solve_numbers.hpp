#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace cairn::fusion {

/// The numbers at one place of two forms of the same structure: the form computed, and the form wanted.
struct CoefficientPair {
    double made, wanted;
};

/// The numbers of two forms that differ in numbers only, place by place, in an order that depends on `wanted` only;
/// nothing if the forms differ otherwise. Sums, maxima and linear ops are divided by the coefficient of the same part
/// in both forms, so that it does not matter which part the normal form scales to 1. The factor of the whole form comes
/// last.
///
///     4 * (x + y / 2)  and  3 * (x / 3 + y)   ->   {1, 1} {0.5, 3} {4, 1}
std::optional<std::vector<CoefficientPair>> coefficient_pairs(const normal_form::Normalizer& normalizer,
                                                              const normal_form::ScaledTerm& made,
                                                              const normal_form::ScaledTerm& wanted);

/// Returns the pairs for a definition with these numbers in its holes; nothing if the forms differ otherwise.
using PairsOf = std::function<std::optional<std::vector<CoefficientPair>>(std::span<const double> numbers)>;

/// The numbers for which the computed form equals the wanted one. Each place is assumed to follow a law as one number
/// changes: a power (s^2), a line (2 s + 1), an exponential (e^s) or a logarithm. Numbers that only occur together, as
/// in a * b, are separated by setting the first to 1. Of an even power the positive root is returned. `start` must hold
/// positive numbers. Empty if the forms differ otherwise. If places disagree on the last number, because equal parts
/// were paired wrongly, there are several solutions, of which some are wrong.
///
///     start {0.0079}   4 s - 1 for 7   ->   {{2}}
std::vector<std::vector<double>> solve_numbers(const PairsOf& pairs_of, std::vector<double> start);

}  // namespace cairn::fusion
