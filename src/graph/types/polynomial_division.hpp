#pragma once

#include "graph/types/polynomial.hpp"

namespace cairn::inline v0::detail {

struct Division {
    Polynomial quotient, remainder;
};

/// Long division by the leading term of `b`, which is not zero: a = quotient * b + remainder. Quotients of coefficients
/// are rounded down, so for a constant `b` the coefficients of the remainder are in 0 .. b - 1. The remainder is zero
/// exactly when `b` divides `a`.
///
///     M*N - M - N + 1  by  M - 1   ->   N - 1, remainder 0
///
/// Throws SizeOverflow.
Division divide(Polynomial a, const Polynomial& b);

}  // namespace cairn::inline v0::detail
