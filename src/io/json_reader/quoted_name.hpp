#pragma once

#include <string>
#include <string_view>

namespace cairn::json_reader {

/// A name from a file as shown in messages: in quotes, control characters as `?`, cut between characters if it is very
/// long.
inline std::string quoted_name(std::string_view name) {
    constexpr std::size_t most = 60;
    std::string_view begin = name.substr(0, most);
    const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
    while (begin.size() < name.size() && !begin.empty() && continues(name[begin.size()])) begin.remove_suffix(1);
    std::string text = "'";
    for (const char byte : begin) text += static_cast<unsigned char>(byte) < ' ' || byte == '\x7F' ? '?' : byte;
    return text + (begin.size() < name.size() ? "...'" : "'");
}

}  // namespace cairn::json_reader
