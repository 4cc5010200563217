#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "cairn/types.hpp"

namespace cairn::test {

/// The expression tree of a size, evaluated without simplification: the reference for the algebra of Dim.
struct PlainSize {
    enum class Kind { constant, symbol, add, subtract, multiply, floordiv, ceildiv, mod, min, max };
    Kind kind = Kind::constant;
    std::int64_t value = 0;  ///< or the symbol's index
    std::shared_ptr<PlainSize> left, right;

    /// Empty if a divisor is 0.
    std::optional<std::int64_t> evaluate(std::span<const std::int64_t> symbols) const;
    /// The same as a Dim; throws if the algebra finds a division by a constant 0.
    Dim dim(const std::vector<Dim>& symbols) const;
};

/// A random tree of at most `depth` levels over `symbols` symbols; `functions` allows floordiv, ceildiv, mod, min and
/// max.
std::shared_ptr<PlainSize> random_size(std::mt19937_64& random, int symbols, int depth, bool functions);

/// Every combination of values of symbols with these bounds.
std::vector<std::vector<std::int64_t>> all_values(const std::vector<Symbols::Symbol>& symbols);

}  // namespace cairn::test
