#pragma once

#include "cairn/types.hpp"
#include "graph/types/polynomial.hpp"

#include <cstdint>
#include <vector>

/// Sizes over a part of all symbol values: bounds, and how they move with one symbol.
namespace cairn::program {

using detail::Interval;
using detail::Polynomial;
using detail::Wide;

/// A range for each symbol of a table, in the order of Symbols::list(), both ends included.
struct Box {
    struct Range {
        std::int64_t low = 0, high = 0;
        bool is_point() const noexcept { return low == high; }
    };
    std::vector<Range> ranges;

    /// All values that the symbols' bounds allow.
    explicit Box(const Symbols& symbols);
    bool is_point() const noexcept;
    /// The lower end of each range.
    std::vector<std::int64_t> low() const;
};

/// Bounds of `size` over the box: interval arithmetic, exact at a point.
///
///     N * (10 - N), N in 2..4     ->     4..36
Interval bounds_over(const Polynomial& size, const Box& box);

/// Bounds of what one step up of a symbol adds to `size` anywhere in the box.
///
///     N * N, N in 2..4     ->     4..8
Interval forward_difference_over(const Polynomial& size, std::size_t symbol, const Box& box);

/// True when it is proved that `size` bends upwards along the symbol everywhere in the box, so that it is largest at
/// one of the two ends, whatever the other symbols are. A straight line bends upwards.
bool is_convex(const Polynomial& size, std::size_t symbol, const Box& box);

}  // namespace cairn::program
