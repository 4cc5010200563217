#pragma once

#include <nlohmann/json.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace cairn::cli {

/// Standard output was closed by its reader: not an error, but the command ends.
struct BrokenPipe : std::exception {};

/// A JSON object that keeps the order of its fields.
using OutputRow = nlohmann::ordered_json;

/// Writes results to standard output, one line each, as text or as a JSON object. Throws BrokenPipe, and Error(file) if
/// a line cannot be written.
class Output {
public:
    /// Writes one object per line instead of text.
    bool json = false;

    /// Writes a result in the selected form; the text has no newline.
    void line(const OutputRow& row, std::string_view text);
    /// Writes text that has no JSON form.
    void text(std::string_view text);

private:
    static void write(std::string_view bytes);
};

/// Nanoseconds, rounded to a thousandth: `cost_ns`.
double nanoseconds(double seconds);

/// `412 ns`, `12.3 us`, `1.05 ms`, `2.5 s`.
std::string time_text(double seconds);
/// `512 B`, `1.5 KiB`, `474 MiB`.
std::string bytes_text(double bytes);

/// A digest of 32 hexadecimal digits of a list of calls: kernel and problem of each.
class CallDigest {
public:
    void add(std::string_view kernel, std::string_view problem);
    std::string text() const;

private:
    std::string calls_;
};

}  // namespace cairn::cli
