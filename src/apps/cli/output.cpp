#include "apps/cli/output.hpp"

#include "cairn/error.hpp"
#include "cairn/problem.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>

namespace cairn::cli {
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

void Output::line(const OutputRow& row, std::string_view text) {
    if (json)
        write(row.dump(-1, ' ', false, OutputRow::error_handler_t::replace) + '\n');
    else
        write(std::string(text) + '\n');
}

void Output::text(std::string_view text) { write(text); }

void Output::write(std::string_view bytes) {
    const bool done = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
    if (done) return;
    const int code = errno;
    if (code == EPIPE) throw BrokenPipe();
    throw Error(ErrorKind::file, "output", "the output cannot be written: " + std::generic_category().message(code));
}

double nanoseconds(double seconds) { return std::round(seconds * 1e12) / 1e3; }

std::string time_text(double seconds) {
    constexpr std::array<std::string_view, 4> units = {"ns", "us", "ms", "s"};
    return with_unit(seconds * 1e9, 1000, units);
}

std::string bytes_text(double bytes) {
    constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
    return with_unit(bytes, 1024, units);
}

void CallDigest::add(std::string_view kernel, std::string_view problem) {
    calls_.append(kernel).append(" | ").append(problem).append("\n");
}

std::string CallDigest::text() const { return to_string(digest(calls_)); }

}  // namespace cairn::cli
