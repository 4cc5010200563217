#pragma once

#include "cairn/types.hpp"

#include <vector>

/// Permutations of axes as forms have them: negative axes, without unchanged leading ones, so that a permutation does
/// not depend on the number of axes.
namespace cairn::normal_form {

/// A permutation of all axes without the unchanged leading ones; empty for the identity.
std::vector<Dim> shortest(std::vector<Dim> order);
/// The trimmed shape of a transposed value.
Shape permuted(Shape shape, const std::vector<Dim>& order);
/// The permutation equal to `first` followed by `second`.
std::vector<Dim> composed_order(const std::vector<Dim>& first, const std::vector<Dim>& second);

}  // namespace cairn::normal_form
