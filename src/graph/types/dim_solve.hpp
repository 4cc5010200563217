#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// Solver for equations between sizes and numbers in one symbol, over the integers within its bounds.
///
///     32*h = 64, h in 1..16   ->   h = 2
///
/// The method is branch and bound with interval arithmetic, so it needs no monotonicity: polynomials, floordiv, mod,
/// min and max are treated alike. Nothing here allocates memory.
namespace cairn::inline v0::detail {

/// The equation: product of `factors` = `value`. One factor is the size of an axis; a shape gives a number of elements.
struct SizeEquation {
    std::span<const Dim> factors;
    std::int64_t value = 0;
};

/// The symbol to solve for, and the values of all other symbols.
struct Unknown {
    std::span<const std::int64_t> values;  ///< of all symbols, in the order of Symbols::list(); its own is ignored
    std::size_t symbol = 0;                ///< index of the unknown in that order
    std::int64_t low = 0, high = 0;        ///< its bounds, inclusive
};

/// Number of values within the bounds that satisfy a system of equations.
enum class SolutionCount {
    none,
    one,
    several,
    undecided  ///< the search reached its limit of steps
};

struct Solution {
    SolutionCount count = SolutionCount::none;
    std::int64_t value = 0;   ///< for one and several: the smallest solution
    std::int64_t second = 0;  ///< for several: the next larger solution
};

/// True if the symbol with this index occurs in `size`.
bool depends_on(const Dim& size, std::size_t symbol) noexcept;

/// Finds the values of the unknown that satisfy all equations.
Solution solve(std::span<const SizeEquation> equations, const Unknown& unknown) noexcept;

/// The values nearest to `value`, from below and from above, that the left side of an equation takes while the unknown
/// is within its bounds. Empty if there is none, or if the search reached its limit of steps.
struct Attainable {
    std::optional<std::int64_t> below, above;
};
Attainable nearest_attainable(const SizeEquation& equation, const Unknown& unknown) noexcept;

}  // namespace cairn::inline v0::detail
