#include "apps/cli/output.hpp"

#include "cairn/problem.hpp"

#include <cmath>

namespace cairn::cli {

void Output::line(const OutputRow& row, std::string_view text) {
    if (json)
        console::print(row.dump(-1, ' ', false, OutputRow::error_handler_t::replace) + '\n');
    else
        console::print(std::string(text) + '\n');
}

void Output::text(std::string_view text) { console::print(text); }

double nanoseconds(double seconds) { return std::round(seconds * 1e12) / 1e3; }

void CallDigest::add(std::string_view kernel, std::string_view problem) {
    calls_.append(kernel).append(" | ").append(problem).append("\n");
}

std::string CallDigest::text() const { return to_string(digest(calls_)); }

}  // namespace cairn::cli
