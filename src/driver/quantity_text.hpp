#pragma once

#include <string>

/// Formats times and bytes with three significant digits and a unit.
namespace cairn::driver {

/// `16.9 ms`, `462 us`; `0 ns` below half a nanosecond.
std::string duration_text(double seconds);
/// With a sign: `+1.2 us`.
std::string difference_text(double seconds);
/// `497 MB`, in decimal units.
std::string size_text(double bytes);

}  // namespace cairn::driver
