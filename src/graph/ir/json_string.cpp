#include "graph/ir/json_string.hpp"

namespace cairn::ir {
namespace {

char next_char(types::TextCursor& cursor) {
    const char c = cursor.current();
    if (c == '\0') cursor.fail("the name has no closing '\"'");
    cursor.seek(cursor.position() + 1);
    return c;
}

std::uint32_t read_hex(types::TextCursor& cursor) {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = next_char(cursor);
        const bool digit = c >= '0' && c <= '9', lower = c >= 'a' && c <= 'f', upper = c >= 'A' && c <= 'F';
        if (!digit && !lower && !upper) cursor.fail("expected four hexadecimal digits", cursor.position() - 1);
        code = code * 16 + static_cast<std::uint32_t>(digit ? c - '0' : lower ? c - 'a' + 10 : c - 'A' + 10);
    }
    return code;
}

void append_utf8(std::string& text, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xC0U | code >> 6U);
    } else {
        if (code < 0x10000) {
            put(0xE0U | code >> 12U);
        } else {
            put(0xF0U | code >> 18U);
            put(0x80U | (code >> 12U & 0x3FU));
        }
        put(0x80U | (code >> 6U & 0x3FU));
    }
    put(0x80U | (code & 0x3FU));
}

std::uint32_t read_character(types::TextCursor& cursor) {
    const std::size_t position = cursor.position();
    const std::uint32_t first = read_hex(cursor);
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first < 0xDC00 && next_char(cursor) == '\\' && next_char(cursor) == 'u') {
        const std::uint32_t second = read_hex(cursor);
        if (second >= 0xDC00 && second <= 0xDFFF) return 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00);
    }
    cursor.fail("half a surrogate pair", position);
}

}  // namespace

std::string read_json_string(types::TextCursor& cursor) {
    if (cursor.peek() != '"') cursor.fail_expected("'\"'");
    next_char(cursor);
    std::string text;
    for (char c = next_char(cursor); c != '"'; c = next_char(cursor)) {
        if (c != '\\') {
            text += c;
            continue;
        }
        switch (const char escape = next_char(cursor)) {
            case '"':
            case '\\':
            case '/': text += escape; break;
            case 'b': text += '\b'; break;
            case 'f': text += '\f'; break;
            case 'n': text += '\n'; break;
            case 'r': text += '\r'; break;
            case 't': text += '\t'; break;
            case 'u': append_utf8(text, read_character(cursor)); break;
            default: cursor.fail("unknown escape", cursor.position() - 1);
        }
    }
    return text;
}

}  // namespace cairn::ir
