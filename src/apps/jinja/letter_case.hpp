#pragma once

#include "apps/jinja/fault.hpp"
#include "apps/jinja/marked_text.hpp"

#include <algorithm>
#include <string>

namespace cairn::jinja {

/// Cases of ASCII letters; templates change the case of roles and types only.
inline char to_upper(char byte) { return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 32) : byte; }
inline char to_lower(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }
inline bool is_ascii_letter(char byte) { return to_lower(byte) >= 'a' && to_lower(byte) <= 'z'; }

/// Throws Error (argument) for a text with other characters than ASCII.
inline void require_ascii(const std::string& name, const MarkedText& text) {
    const auto is_other = [](char byte) { return static_cast<unsigned char>(byte) > 127; };
    if (std::any_of(text.bytes().begin(), text.bytes().end(), is_other)) fault(name + " takes ASCII characters only");
}

/// The first letter, and each one behind a character that `separates`, in upper case, the others in lower case.
template <typename Separates>
MarkedText titled(const MarkedText& text, const Separates& separates) {
    require_ascii("title", text);
    bool begins = true;
    return text.mapped([&](char byte) {
        const char mapped = begins ? to_upper(byte) : to_lower(byte);
        begins = separates(byte);
        return mapped;
    });
}

}  // namespace cairn::jinja
