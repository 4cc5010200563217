#pragma once

#include "graph/types/polynomial.hpp"

namespace cairn::inline v0::detail {

struct Division {
    Polynomial quotient, remainder;
};

/// Long division by the leading term of `b`, which is not zero: a = quotient * b + remainder. Coefficients are divided
/// with rounding down, so for a constant `b` the remainder's lie in 0 .. b - 1. The remainder is zero exactly when `b`
/// divides `a`.
///
///     M*N - M - N + 1  by  M - 1   ->   N - 1, remainder 0
///
/// Throws SizeOverflow.
Division divide(Polynomial a, const Polynomial& b);

}  // namespace cairn::inline v0::detail
