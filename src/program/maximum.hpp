#pragma once

#include "program/box.hpp"

#include <functional>
#include <span>
#include <vector>

/// The largest value of a quantity over all legal symbol values, by branch and bound.
namespace cairn::program {

/// A quantity made of sizes: the longest path through them, their sum, or one alone.
struct Quantity {
    std::vector<Polynomial> sizes;
    /// Each size is rounded up to a multiple of this before it counts; the total is a multiple of it.
    std::int64_t unit = 1;
    /// The quantity from its sizes. It must be a largest sum of some of them: then it grows with each, and bends
    /// upwards where each of them does.
    std::function<Wide(std::span<const Wide>)> total;
};

struct Maximum {
    bool legal = false;            ///< some legal symbol values were found
    Wide bound = 0;                ///< no legal symbol values give more
    Wide found = 0;                ///< given at `at`; equal to `bound` unless the work was cut short
    std::vector<std::int64_t> at;  ///< symbol values
};

struct MaximumOptions {
    int boxes = 4096;                 ///< looked at before the search is cut short
    Wide enough = -detail::infinity;  ///< a bound at or below this ends the search, as does a value found above it
                                      ///< (where it is set)
};

/// The maximum of `quantity` over all symbol values within their bounds at which no polynomial of `limits` is above 0.
///
///     N + (10 - N) * 3, N in 2..8     ->     26 at N = 2
///
/// Where a quantity only grows or only falls with a symbol, that symbol stands at its end; where it bends upwards, it
/// is largest at a corner; else the ranges are halved, the most promising part first, until what was found meets the
/// bound.
Maximum maximum_of(const Quantity& quantity, const Symbols& symbols, std::span<const Polynomial> limits,
                   const MaximumOptions& options = {});

}  // namespace cairn::program
