#include "driver/quantity_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace cairn::driver {
namespace {

std::string with_unit(double value, std::span<const std::string_view> units) {
    std::size_t unit = 0;
    // A value that rounds to 1000 is 1 of the next unit.
    while (std::abs(value) >= 999.5 && unit + 1 < units.size()) value /= 1000, ++unit;
    const double size = std::abs(value);
    const int digits = size >= 99.95 || unit == 0 ? 0 : size >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

}  // namespace

std::string duration_text(double seconds) {
    constexpr std::array<std::string_view, 4> units = {"ns", "us", "ms", "s"};
    return with_unit(seconds * 1e9, units);
}

std::string difference_text(double seconds) { return (seconds < 0 ? "" : "+") + duration_text(seconds); }

std::string size_text(double bytes) {
    constexpr std::array<std::string_view, 5> units = {"B", "kB", "MB", "GB", "TB"};
    return with_unit(bytes, units);
}

}  // namespace cairn::driver
