#pragma once

#include <string>
#include <string_view>

/// Declares the last line of a text that Cairn saves: a digest of everything before it.
namespace cairn::runtime {

/// Appends the line `# digest 0123456789abcdef0123456789abcdef`. The text must end in a line feed.
std::string with_digest_line(std::string text);

/// True if a text ends with the digest of everything before it.
bool has_valid_digest(std::string_view text);

/// The position after the first digest line of a text; its size if there is none.
std::size_t end_of_digest_line(std::string_view text);

/// A text with a digest line at its end, without that line.
std::string_view without_digest_line(std::string_view text);

}  // namespace cairn::runtime
