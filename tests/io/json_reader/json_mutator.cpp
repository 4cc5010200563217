#include "tests/io/json_reader/json_mutator.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace cairn::test {
namespace {

/// Tokens that a parser must handle in place of any value.
const std::vector<std::string>& hostile_tokens() {
    static const std::vector<std::string> tokens = {"1e999",
                                                    "-1e999",
                                                    "1e-999",
                                                    "-0",
                                                    "-1",
                                                    "0.5",
                                                    "1E2",
                                                    "18446744073709551615",
                                                    "18446744073709551616",
                                                    "-9223372036854775808",
                                                    "9223372036854775807",
                                                    "2147483648",
                                                    "123456789012345678901234567890",
                                                    "NaN",
                                                    "Infinity",
                                                    "01",
                                                    "null",
                                                    "true",
                                                    "false",
                                                    "{}",
                                                    "[]",
                                                    "[[]]",
                                                    "[null]",
                                                    R"({"a":1,"a":2})",
                                                    R"("")",
                                                    R"("a")",
                                                    R"("\ud800")",
                                                    R"("\u0000")",
                                                    R"("\ud83d\ude00")",
                                                    "\"\xF0\x9F\x98\x80\"",
                                                    "\"\xC3\"",
                                                    "\"\xED\xA0\x80\"",
                                                    R"("a b c")",
                                                    R"("ByteLevel")",
                                                    R"("BPE")",
                                                    R"("WordPiece")",
                                                    R"("TemplateProcessing")",
                                                    '"' + std::string(5000, 'x') + '"',
                                                    std::string(3000, '['),
                                                    std::string(40, '[') + std::string(40, ']')};
    return tokens;
}

const std::vector<std::string>& hostile_bytes() {
    static const std::vector<std::string> bytes = {"\xEF\xBB\xBF",
                                                   std::string(1, '\0'),
                                                   "\xFF",
                                                   "\xC0\xAF",
                                                   "\xE2\x80\xA8",
                                                   "\n",
                                                   "\r\n",
                                                   "\r",
                                                   " ",
                                                   "\t",
                                                   "\"",
                                                   "\\",
                                                   "\\u",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   ":",
                                                   "-",
                                                   "e9",
                                                   "0",
                                                   "9",
                                                   "[UNK]",
                                                   "##",
                                                   "<|endoftext|>",
                                                   "/*",
                                                   "\x1B"};
    return bytes;
}

}  // namespace

std::vector<std::string> json_tokens(std::string_view text) {
    std::vector<std::string> tokens;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.'; };
    const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        if (text[at] == '"') {
            while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, text.size());
        } else if (is_word(text[at])) {
            while (end < text.size() && is_word(text[end])) ++end;
        } else if (is_space(text[at])) {
            while (end < text.size() && is_space(text[end])) ++end;
        }
        tokens.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return tokens;
}

void Mutator::mutate_bytes(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(text.size() - at, 1 + below(8));
    switch (below(6)) {
        case 0:
            if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
            break;
        case 1: text.erase(at, length); break;
        case 2: text.insert(at, std::string(text, at, length)); break;
        case 3: text.insert(below(4) == 0 ? 0 : at, hostile_bytes()[below(hostile_bytes().size())]); break;
        case 4: text.replace(at, length, hostile_bytes()[below(hostile_bytes().size())]); break;
        default: text.resize(below(8) == 0 ? 0 : at); break;
    }
}

void Mutator::mutate_tokens(std::string& text) {
    std::vector<std::string> tokens = json_tokens(text);
    if (tokens.empty()) return;
    const std::size_t at = below(tokens.size());
    const std::size_t other = below(tokens.size());
    const auto position = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(6)) {
        case 0:
        case 1: tokens[at] = hostile_tokens()[below(hostile_tokens().size())]; break;
        case 2: tokens.erase(position); break;
        case 3: tokens.insert(position, std::string(tokens[other])); break;
        case 4: std::swap(tokens[at], tokens[other]); break;
        default: tokens[at] = "[" + tokens[at] + "]"; break;
    }
    text.clear();
    for (const std::string& token : tokens) text += token;
}

std::string Mutator::mutate(std::string_view text) {
    std::string spoilt(text);
    for (std::size_t left = 1 + below(3); left > 0; --left)
        below(2) == 0 ? mutate_bytes(spoilt) : mutate_tokens(spoilt);
    return spoilt;
}

}  // namespace cairn::test
