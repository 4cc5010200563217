#pragma once

#include <nlohmann/json.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace cairn::cli {

/// The reader of the results left before their end: no fault, but there is nobody to go on for.
struct BrokenPipe : std::exception {};

/// An object whose fields keep their order.
using OutputRow = nlohmann::ordered_json;

/// Results, and nothing else, on standard output: each a line as it comes, as text or as a JSON object. Throws
/// BrokenPipe, and Error(file) where a line cannot be written.
class Output {
public:
    /// One object a line instead of text.
    bool json = false;

    /// A result in both forms; the text without its newline.
    void line(const OutputRow& row, std::string_view text);
    /// Text that has no other form.
    void text(std::string_view text);

private:
    static void write(std::string_view bytes);
};

/// Seconds as nanoseconds, to a thousandth: `cost_ns`.
double nanoseconds(double seconds);

/// `412 ns`, `12.3 us`, `1.05 ms`, `2.5 s`.
std::string time_text(double seconds);
/// `512 B`, `1.5 KiB`, `474 MiB`.
std::string bytes_text(double bytes);

/// 32 hexadecimal digits of a list of calls: kernel and problem of each.
class CallDigest {
public:
    void add(std::string_view kernel, std::string_view problem);
    std::string text() const;

private:
    std::string calls_;
};

}  // namespace cairn::cli
