#pragma once

#include "fusion/matcher.hpp"

#include <span>
#include <vector>

namespace cairn::fusion {

/// A region of a pattern's skeleton laid over a region of the graph.
struct RegionPair {
    ir::NodeId skeleton, graph;
};

/// The number of fewest digits that rounds to the one that a constant of this dtype holds: 1e-05, where
/// 9.999999747378752e-06 is stored. Whole numbers, and those that the dtype cannot hold, stay as they are.
double shortest_decimal(double value, DType dtype = DType::f32);

/// The number of fewest digits that differs from a computed one by no more than two roundings to the dtype do; an
/// integer itself.
double shortest_within_rounding(Matcher& matcher, double value, DType dtype);

/// True if the pattern adds a number to a value; and if it adds a whole multiple of the number in a hole, as a norm of
/// n elements adds n times its eps to a sum.
bool adds_constant(const Pattern& pattern);
bool adds_free_constant(const Pattern& pattern);

/// For each hole of the pattern but those for whole numbers the numbers that may stand there: those of the graph's
/// regions that lie under the sentinel, as they are and as reciprocals, the factors of forms there, and 1 (a scale left
/// out). What was computed is rounded: 0.5 for 0.70710678 * 0.70710678.
std::vector<std::vector<double>> candidate_numbers(Matcher& matcher, const Pattern& pattern,
                                                   std::span<const RegionPair> region_pairs);

/// Adds the base b of a table whose elements are powers b^e of a free number, as rope has one: from the table that the
/// definition makes for the sentinel on such operands, and the graph's table of the same size.
void add_table_numbers(Matcher& matcher, const Pattern& pattern, std::span<const RegionPair> region_pairs,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers);

/// Adds the whole numbers that make of a comparison of positions, as the definition has it on such operands, one of
/// the graph's: 4 where that has rows > columns - 4 and the definition rows - columns < W.
void add_whole_numbers(Matcher& matcher, const Pattern& pattern, std::span<const RegionPair> region_pairs,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers);

}  // namespace cairn::fusion
