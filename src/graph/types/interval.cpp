#include "graph/types/interval.hpp"

#include <algorithm>
#include <limits>

namespace cairn::inline v0::detail {

namespace {

bool is_infinite(Wide value) { return value >= infinity || value <= -infinity; }

Wide product(Wide a, Wide b) {
    if (a == 0 || b == 0) return 0;
    const Wide limit = (a < 0) == (b < 0) ? infinity : -infinity;
    Wide result = 0;
    if (is_infinite(a) || is_infinite(b) || __builtin_mul_overflow(a, b, &result)) return limit;
    return std::clamp(result, -infinity, infinity);
}

Wide quotient(Wide a, Wide b) {
    if (is_infinite(a)) return b < 0 ? -a : a;
    if (is_infinite(b)) return a == 0 || (a < 0) == (b < 0) ? 0 : -1;
    const Wide rounded = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? rounded - 1 : rounded;
}

// floor(x / y) is monotone in x, and in y on either side of 0, so corners are enough.
Interval same_sign_quotient(Interval a, Interval b) {
    const Wide corners[] = {quotient(a.low, b.low), quotient(a.low, b.high), quotient(a.high, b.low),
                            quotient(a.high, b.high)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

}  // namespace

Interval add(Interval a, Interval b) {
    const bool no_low = a.low <= -infinity || b.low <= -infinity;
    const bool no_high = a.high >= infinity || b.high >= infinity;
    return {no_low ? -infinity : std::clamp(a.low + b.low, -infinity, infinity),
            no_high ? infinity : std::clamp(a.high + b.high, -infinity, infinity)};
}

Interval multiply(Interval a, Interval b) {
    const Wide corners[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                            product(a.high, b.high)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Interval quotient_bounds(Interval a, Interval b) {
    const bool negative = b.low<0, positive = b.high> 0;
    if (!negative && !positive) return {-infinity, infinity};
    if (!negative) return same_sign_quotient(a, {std::max(b.low, Wide(1)), b.high});
    if (!positive) return same_sign_quotient(a, {b.low, std::min(b.high, Wide(-1))});
    const Interval below = same_sign_quotient(a, {b.low, -1}), above = same_sign_quotient(a, {1, b.high});
    return {std::min(below.low, above.low), std::max(below.high, above.high)};
}

Interval remainder_bounds(Interval a, Interval b) {
    const Wide above = b.high >= infinity ? infinity : std::max(b.high - 1, Wide(0));
    const Wide below = b.low <= -infinity ? -infinity : std::min(b.low + 1, Wide(0));
    if (b.low > 0 && a.low >= 0) return {0, std::min(above, a.high)};
    return {below, above};
}

Interval interval_min(Interval a, Interval b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }

Interval interval_max(Interval a, Interval b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }

std::int64_t to_int64(Wide value) {
    constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::clamp(value, Wide(low), Wide(high)));
}

}  // namespace cairn::inline v0::detail
