#include "apps/console/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace cairn::console {
namespace {

/// Three digits and a unit; each unit is `step` times the one before.
template <std::size_t N>
std::string with_unit(double value, double step, const std::array<std::string_view, N>& units) {
    std::size_t unit = 0;
    while (unit + 1 < N && std::abs(value) >= step * 0.9995) value /= step, ++unit;
    const int digits = std::abs(value) >= 99.95 || value == std::floor(value) ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
    std::string number = fmt::format("{:.{}f}", value, digits);
    if (number.ends_with(".00")) number.resize(number.size() - 3);
    return fmt::format("{} {}", number, units[unit]);
}

}  // namespace

std::string time_text(double seconds) {
    constexpr std::array<std::string_view, 4> units = {"ns", "us", "ms", "s"};
    return with_unit(seconds * 1e9, 1000, units);
}

std::string bytes_text(double bytes) {
    constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
    return with_unit(bytes, 1024, units);
}

}  // namespace cairn::console
