#pragma once

#include "fusion/matcher.hpp"

#include <span>
#include <vector>

namespace cairn::fusion {

/// A region of a pattern's skeleton paired with a region of the graph.
struct RegionPair {
    ir::NodeId skeleton, graph;
};

/// The shortest decimal that rounds to the number that a constant of this dtype holds: 1e-05, where
/// 9.999999747378752e-06 is stored. Whole numbers, and numbers that the dtype cannot hold, are unchanged.
double shortest_decimal(double value, DType dtype = DType::f32);

/// The shortest decimal within two roundings of a computed number, for floats; numbers of integer dtypes are unchanged.
double shortest_within_rounding(Matcher& matcher, double value, DType dtype);

/// True if the pattern adds a number to a value; adds_free_constant: if it adds a whole multiple of the number in a
/// hole, as a norm of n elements adds n times its eps to a sum.
bool adds_constant(const Pattern& pattern);
bool adds_free_constant(const Pattern& pattern);

/// The candidate numbers for each hole of the pattern, except holes for whole numbers: the numbers in the graph's
/// regions that are paired with the sentinel's, and their reciprocals; the factors of forms there; and 1 (a scale left
/// out). Computed numbers are rounded: 0.5 for 0.70710678 * 0.70710678.
std::vector<std::vector<double>> candidate_numbers(Matcher& matcher, const Pattern& pattern,
                                                   std::span<const RegionPair> region_pairs);

/// Adds the base b of a table of powers b^e of a free number, such as that of rope. It is computed from the table that
/// the definition makes for the sentinel on such operands, and the graph's table of the same size.
void add_table_numbers(Matcher& matcher, const Pattern& pattern, std::span<const RegionPair> region_pairs,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers);

/// Adds the whole numbers for which a comparison of positions in the definition, on such operands, equals one in the
/// graph: 4, if the graph has rows > columns - 4 and the definition rows - columns < W.
void add_whole_numbers(Matcher& matcher, const Pattern& pattern, std::span<const RegionPair> region_pairs,
                       std::span<const TensorDesc> operands, std::vector<std::vector<double>>& numbers);

}  // namespace cairn::fusion
