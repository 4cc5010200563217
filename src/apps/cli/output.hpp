#pragma once

#include "apps/console/standard_streams.hpp"
#include "apps/console/units.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace cairn::cli {

using console::bytes_text;
using console::time_text;

/// A JSON object that keeps the order of its fields.
using OutputRow = nlohmann::ordered_json;

/// Writes results to standard output, one line each, as text or as a JSON object. Throws what console::print()
/// throws.
class Output {
public:
    /// Writes one object per line instead of text.
    bool json = false;

    /// Writes a result in the selected form; the text has no newline.
    void line(const OutputRow& row, std::string_view text);
    /// Writes text that has no JSON form.
    void text(std::string_view text);
};

/// Nanoseconds, rounded to a thousandth: `cost_ns`.
double nanoseconds(double seconds);

/// A digest of 32 hexadecimal digits of a list of calls: kernel and problem of each.
class CallDigest {
public:
    void add(std::string_view kernel, std::string_view problem);
    std::string text() const;

private:
    std::string calls_;
};

}  // namespace cairn::cli
