#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// Solving equations between sizes and numbers for one symbol, over the integers within its bounds.
///
///     32*h = 64, h in 1..16   ->   h = 2
///
/// The method is branch and bound with interval arithmetic, so it needs no monotonicity: polynomials, floordiv, mod,
/// min and max are solved alike. Nothing here allocates memory.
namespace cairn::inline v0::detail {

/// The product of `factors` equals `value`. One factor: a size of an axis; a shape: a number of elements.
struct SizeEquation {
    std::span<const Dim> factors;
    std::int64_t value = 0;
};

/// The symbol to solve for, and the values of all other symbols.
struct Unknown {
    std::span<const std::int64_t> values;  ///< of all symbols, in the order of Symbols::list(); its own is ignored
    std::size_t symbol = 0;                ///< its position in that order
    std::int64_t low = 0, high = 0;        ///< its bounds, inclusive
};

/// How many values within the bounds satisfy a system of equations.
enum class SolutionCount {
    none,
    one,
    several,
    undecided  ///< the search was ended after a fixed number of steps
};

struct Solution {
    SolutionCount count = SolutionCount::none;
    std::int64_t value = 0;   ///< of one and several: the smallest solution
    std::int64_t second = 0;  ///< of several: the next larger solution
};

/// True where the symbol at that position occurs in `size`.
bool depends_on(const Dim& size, std::size_t symbol) noexcept;

/// The values of the unknown that satisfy all equations.
Solution solve(std::span<const SizeEquation> equations, const Unknown& unknown) noexcept;

/// The values nearest to that of an equation which its left side takes within the bounds. Nothing where there is none,
/// and where the search was ended.
struct Attainable {
    std::optional<std::int64_t> below, above;
};
Attainable nearest_attainable(const SizeEquation& equation, const Unknown& unknown) noexcept;

}  // namespace cairn::inline v0::detail
