#pragma once

#include <algorithm>
#include <cmath>

/// How errors that contribute to the same result combine (docs/decisions/0114).
namespace cairn::accuracy {

/// The root of the sum of the squares of two errors, as for independent deviations. Associative; with 0, the other one.
inline double combined_error(double a, double b) { return std::hypot(a, b); }

/// What an error consumes of a budget. Squares are additive, so a search limits them as it limits bytes. Those of tiny
/// and of huge errors stay positive and finite.
inline double error_square(double error) { return error == 0 ? 0 : std::clamp(error * error, 1e-300, 1e300); }

}  // namespace cairn::accuracy
