#include "graph/ir/valid_names.hpp"

#include <cstdint>

namespace cairn::ir {
namespace {

constexpr std::size_t longest_name = 1024;

// Bytes of the well-formed UTF-8 character at the front of `text` (shortest form, no surrogates, at most U+10FFFF); 0
// if there is none.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    std::uint32_t code = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return 0;
        code = code << 6U | (byte(i) & 0x3FU);
    }
    const bool shortest = code >= (length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U);
    return shortest && code <= 0x10FFFFU && (code < 0xD800U || code > 0xDFFFU) ? length : 0;
}

}  // namespace

std::string verify_name(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() > longest_name) return "has more than 1024 bytes";
    while (!name.empty()) {
        const auto first = static_cast<unsigned char>(name[0]);
        if (first < 0x20 || first == 0x7F) return "holds a control character";
        const std::size_t length = character_length(name);
        if (length == 0) return "is not valid UTF-8";
        name.remove_prefix(length);
    }
    return {};
}

std::string quoted(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + '"';
}

}  // namespace cairn::ir
