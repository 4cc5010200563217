#pragma once

#include "graph/types/polynomial.hpp"

namespace cairn::inline v0::detail {

/// Proves that `a` >= 0 for all values of the symbols within their bounds. False means that no proof was found.
///
///     N + 1 - min(N, M)    ->  true: one operand bounds a min that is subtracted
///     32 * floordiv(N + 31, 32) - N    ->  true: 32 * floordiv(N + 31, 32) >= N + 31 - 31
///
///     2*M*N + K*M*N - M*N*N, N <= 3, K >= 1    ->  true: M*N * (2 + K - N)
///
///     2 + 11*N - N*N, N <= 11    ->  true: concave, and 2 at both ends
///
/// Methods, in this order: interval arithmetic; dividing by factors common to all terms; replacing each atom by its
/// distance from its lower (or upper) bound, after which no coefficient may be negative; evaluating at both ends of
/// each atom in which the rest is concave; replacing min, max and floordiv by a constant with their bounds. The number
/// of steps is limited, so hostile sizes cost little.
bool provably_nonnegative(const Polynomial& a);

}  // namespace cairn::inline v0::detail
