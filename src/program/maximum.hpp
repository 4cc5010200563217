#pragma once

#include "program/box.hpp"

#include <functional>
#include <span>
#include <vector>

/// Declares the maximization of a quantity over all legal symbol values, by branch and bound.
namespace cairn::program {

/// Objective function over sizes: the longest path through them, their sum, or a single size.
struct Quantity {
    std::vector<Polynomial> sizes;
    /// Each size is rounded up to a multiple of this before it enters the total; the total is a multiple of it.
    std::int64_t unit = 1;
    /// Computes the quantity from its sizes. Must be a maximum over sums of some of them: then it is monotone in each
    /// size, and convex where all sizes are.
    std::function<Wide(std::span<const Wide>)> total;
};

/// Result of maximum_of().
struct Maximum {
    bool legal = false;            ///< legal symbol values were found
    Wide bound = 0;                ///< upper bound over all legal symbol values
    Wide found = 0;                ///< value at `at`; equal to `bound` unless the search was cut short
    std::vector<std::int64_t> at;  ///< symbol values
};

/// Limits of the search of maximum_of().
struct MaximumOptions {
    int boxes = 4096;                 ///< maximum number of boxes examined
    Wide enough = -detail::infinity;  ///< if set, the search ends at a bound <= this or a value found > this
};

/// Maximizes `quantity` over all symbol values within their bounds, subject to limit <= 0 for each polynomial of
/// `limits`.
///
///     N + (10 - N) * 3, N in 2..8     ->     26 at N = 2
///
/// A symbol in which the quantity is monotone is fixed at an end of its range. A convex quantity is largest at a
/// corner. Otherwise the ranges are halved, the box with the largest bound first, until the value found equals the
/// bound.
Maximum maximum_of(const Quantity& quantity, const Symbols& symbols, std::span<const Polynomial> limits,
                   const MaximumOptions& options = {});

}  // namespace cairn::program
