#pragma once

#include <string>

/// Formats times and bytes with three significant digits and a unit.
namespace cairn::driver {

/// `16.9 ms`, `462 us`; below a nanosecond `0 ns`.
std::string duration_text(double seconds);
/// With its sign: `+1.2 us`.
std::string difference_text(double seconds);
/// `497 MB`: of 1000 bytes, 1000000 bytes, ...
std::string size_text(double bytes);

}  // namespace cairn::driver
