#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::cli {

/// Nanoseconds since 1970, of now.
std::int64_t now();

/// The moment that a text tells, in nanoseconds since 1970: an age (`30d`, `12h`; s, m, h, d, w) is that long before
/// `now`, a date (`2026-11-23`, `2026-11-23T18:59:53Z`) is of UTC. Nothing of other texts.
std::optional<std::int64_t> parse_timestamp(const std::string& text, std::int64_t now);

/// What is wrong with such a text; empty where nothing is.
std::string timestamp_error(const std::string& text);

/// `2026-11-23T18:59:53Z`, whole seconds; `never` for 0.
std::string timestamp_text(std::int64_t nanoseconds);

}  // namespace cairn::cli
