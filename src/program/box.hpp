#pragma once

#include "cairn/types.hpp"
#include "graph/types/polynomial.hpp"

#include <cstdint>
#include <vector>

/// Declares interval bounds, forward differences and convexity of sizes over a box of symbol values.
namespace cairn::program {

using detail::Interval;
using detail::Polynomial;
using detail::Wide;

/// Axis-aligned box of symbol values: one closed range per symbol, in the order of Symbols::list().
struct Box {
    struct Range {
        std::int64_t low = 0, high = 0;
        bool is_point() const noexcept { return low == high; }
    };
    std::vector<Range> ranges;

    /// The box of all values within the symbols' bounds.
    explicit Box(const Symbols& symbols);
    bool is_point() const noexcept;
    /// The lower end of each range.
    std::vector<std::int64_t> low() const;
};

/// Bounds of `size` over the box, by interval arithmetic; exact at a point.
///
///     N * (10 - N), N in 2..4     ->     4..36
Interval bounds_over(const Polynomial& size, const Box& box);

/// Bounds of the forward difference of `size` in one symbol, size(s + 1) - size(s), for all steps within the box.
///
///     N * N, N in 2..4     ->     4..8
Interval forward_difference_over(const Polynomial& size, std::size_t symbol, const Box& box);

/// True if `size` is proved convex in the symbol over the box, for all values of the other symbols. Its maximum is then
/// at an end of the symbol's range. A linear size is convex.
bool is_convex(const Polynomial& size, std::size_t symbol, const Box& box);

}  // namespace cairn::program
