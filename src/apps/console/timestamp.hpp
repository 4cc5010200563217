#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::console {

/// The current time in nanoseconds since 1970.
std::int64_t now();

/// Parses a time to nanoseconds since 1970: an age (`30d`, `12h`; s, m, h, d, w) before `now`, or a date in UTC
/// (`2026-11-23`, `2026-11-23T18:59:53Z`). Nothing for other texts.
std::optional<std::int64_t> parse_timestamp(const std::string& text, std::int64_t now);

/// Describes what is wrong with such a text; empty if it is valid.
std::string timestamp_error(const std::string& text);

/// `2026-11-23T18:59:53Z`, whole seconds; `never` for 0.
std::string timestamp_text(std::int64_t nanoseconds);

}  // namespace cairn::console
