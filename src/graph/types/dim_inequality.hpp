#pragma once

#include "graph/types/polynomial.hpp"

namespace cairn::inline v0::detail {

/// True when `a` >= 0 is proved for all values of the symbols within their bounds; false says nothing.
///
///     N + 1 - min(N, M)    ->  true: for a min that is taken away, one of its choices is enough
///     32 * floordiv(N + 31, 32) - N    ->  true: 32 * floordiv(N + 31, 32) >= N + 31 - 31
///
///     2*M*N + K*M*N - M*N*N, N <= 3, K >= 1    ->  true: M*N * (2 + K - N)
///
///     2 + 11*N - N*N, N <= 11    ->  true: concave, and 2 at both ends
///
/// In turn: interval arithmetic; factors of all terms are taken out; every atom shifted to its lower (or upper) bound,
/// whereupon no coefficient is negative; atoms in which the rest is concave put at both of their ends; then min, max
/// and floordiv by a constant are replaced by what bounds them. The work is limited, so hostile sizes cost little.
bool provably_nonnegative(const Polynomial& a);

}  // namespace cairn::inline v0::detail
