#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

/// Errors in units in the last place.
namespace cairn::test {

/// The unit in the last place of a number in the format T, at least the smallest subnormal.
template <typename T>
long double unit_of(long double number) {
    int exponent = 0;
    std::frexp(number, &exponent);
    constexpr int digits = std::numeric_limits<T>::digits;
    return std::ldexp(1.0L, std::max(exponent, std::numeric_limits<T>::min_exponent) - digits);
}

/// The error of y in units; infinite if exactly one of the two is NaN or infinite.
template <typename T>
double error_in(long double unit, long double exact, T y) {
    const auto rounded = static_cast<T>(exact);
    if (std::isnan(rounded) || std::isnan(y)) return std::isnan(rounded) == std::isnan(y) ? 0 : INFINITY;
    if (std::isinf(rounded) || std::isinf(y))
        return rounded == y || std::fabs(exact) > std::numeric_limits<T>::max() ? 0 : INFINITY;
    return static_cast<double>(std::fabs(static_cast<long double>(y) - exact) / unit);
}

}  // namespace cairn::test
