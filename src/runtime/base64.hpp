#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::runtime {

/// Bytes as text in Base64 (RFC 4648, section 4), in lines of 120 characters that each end in a line feed.
///
///     to_base64(bytes of "Cairn") = "Q2Fpcm4=\n"
std::string to_base64(std::span<const std::byte> bytes);

/// The bytes of such a text, whatever the length of its lines; empty if it is malformed.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace cairn::runtime
