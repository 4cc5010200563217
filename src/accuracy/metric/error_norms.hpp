#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

/// The norms by which errors of tensors are measured, stated and tolerated.
namespace cairn::accuracy {

/// Norms of the error of results y against references r.
///
///     y 1 2.2, r 1 2   ->   relative 0.2 / sqrt(5), largest 0.2 / 2
struct ErrorNorms {
    double relative = 0;  ///< L2 norm of y - r by that of r
    double largest = 0;   ///< the largest |y - r| / max(|r|, RMS r); the RMS is that of the finite r
    /// The error that Kernel::error and Tolerance refer to.
    double combined() const noexcept { return std::max(relative, largest / 10); }
};

/// Both norms are infinite.
inline constexpr ErrorNorms infinite_error{std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::infinity()};

/// Equal, or both NaN.
inline bool is_same_number(double y, double r) noexcept { return y == r || (std::isnan(y) && std::isnan(r)); }

/// Computes the norms of the pairs that `for_each_pair(visit)` passes to `visit(y, r)`; it is called twice and must
/// pass the same pairs. Pairs for which `is_same(y, r)` holds have no error. The result is infinite_error if one of
/// another pair is not finite, or if squares of the numbers overflow f64.
template <typename ForEachPair, typename IsSame>
ErrorNorms error_norms(const ForEachPair& for_each_pair, const IsSame& is_same) {
    double error_squares = 0, squares = 0, count = 0;
    bool same = true, comparable = true;
    for_each_pair([&](double y, double r) {
        if (std::isfinite(r)) squares += r * r, ++count;
        if (is_same(y, r)) return;
        same = false;
        comparable = comparable && std::isfinite(y) && std::isfinite(r);
        error_squares += (y - r) * (y - r);
    });
    if (same) return {};
    if (!comparable || !std::isfinite(error_squares) || !std::isfinite(squares)) return infinite_error;
    const double rms = std::sqrt(squares / std::max(1.0, count));
    ErrorNorms norms;
    for_each_pair([&](double y, double r) {
        if (!is_same(y, r)) norms.largest = std::max(norms.largest, std::fabs(y - r) / std::max(std::fabs(r), rms));
    });
    // If the squares underflow: sum (y - r)^2 <= largest^2 sum max(|r|, RMS)^2 <= 2 largest^2 sum r^2.
    norms.relative = error_squares > 0 ? std::sqrt(error_squares) / std::sqrt(squares) : std::sqrt(2.0) * norms.largest;
    return norms;
}

}  // namespace cairn::accuracy
