#pragma once

#include <cstdint>

/// Inclusive bounds of a value, wide enough that sums and products of 64-bit bounds do not overflow; larger values
/// count as infinite.
namespace cairn::inline v0::detail {

__extension__ using Wide = __int128;

inline constexpr Wide infinity = Wide(1) << 120;

struct Interval {
    Wide low, high;
};

Interval add(Interval a, Interval b);
Interval multiply(Interval a, Interval b);
/// Bounds of floor(x / y) for x in a and any y other than 0 in b.
Interval quotient_bounds(Interval a, Interval b);
/// Bounds of x mod y, which has the sign of y, for x in a and any y other than 0 in b.
Interval remainder_bounds(Interval a, Interval b);
Interval interval_min(Interval a, Interval b);
Interval interval_max(Interval a, Interval b);
/// Converts a bound: an infinite one, and one that 64 bits cannot hold, becomes INT64_MIN or INT64_MAX.
std::int64_t to_int64(Wide value);

}  // namespace cairn::inline v0::detail
