#include "tests/house/source.hpp"

#include <algorithm>
#include <cctype>

namespace cairn::house {
namespace {

/// Blanks out text[begin, end), newlines excepted.
void blank(std::string& text, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, text.size()); ++i)
        if (text[i] != '\n') text[i] = ' ';
}

/// Offset past the closing quote of the raw string whose opening quote is at `quote`.
std::size_t end_of_raw_string(std::string_view text, std::size_t quote) {
    const auto open = text.find('(', quote);
    if (open == std::string_view::npos) return text.size();
    const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
    const auto found = text.find(close, open);
    return found == std::string_view::npos ? text.size() : found + close.size();
}

/// Offset past the closing quote of the literal whose opening quote is at `quote`, or past the end of its line.
std::size_t end_of_literal(std::string_view text, std::size_t quote) {
    std::size_t i = quote + 1;
    while (i < text.size() && text[i] != text[quote] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    return std::min(i + 1, text.size());
}

bool opens_raw_string(std::string_view text, std::size_t quote) {
    if (quote == 0 || text[quote - 1] != 'R') return false;
    if (quote == 1) return true;
    const char before = text[quote - 2];
    return !is_word(before) || before == 'u' || before == 'U' || before == 'L' || before == '8';
}

/// True for a digit separator (1'000), which starts no character literal.
bool is_separator(std::string_view text, std::size_t quote) {
    return quote > 0 && quote + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[quote - 1])) &&
           std::isxdigit(static_cast<unsigned char>(text[quote + 1]));
}

/// Blanks the comment or literal at `i` and returns the offset after it; returns `i` if there is none.
std::size_t blank_one(std::string_view text, std::string& code, std::size_t i) {
    if (text.substr(i, 2) == "//") {
        const auto end = std::min(text.find('\n', i), text.size());
        blank(code, i, end);
        return end;
    }
    if (text.substr(i, 2) == "/*") {
        const auto found = text.find("*/", i + 2);
        const auto end = found == std::string_view::npos ? text.size() : found + 2;
        blank(code, i, end);
        return end;
    }
    if (text[i] == '"') {
        const auto end = opens_raw_string(text, i) ? end_of_raw_string(text, i) : end_of_literal(text, i);
        blank(code, i + 1, end - 1);
        return end;
    }
    if (text[i] == '\'' && !is_separator(text, i)) {
        const auto end = end_of_literal(text, i);
        blank(code, i + 1, end - 1);
        return end;
    }
    return i;
}

}  // namespace

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string code_of(std::string_view text) {
    std::string code(text);
    for (std::size_t i = 0; i < text.size();) {
        const auto end = blank_one(text, code, i);
        i = end == i ? i + 1 : end;
    }
    return code;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

std::vector<Include> includes_of(std::string_view text) {
    // Directives are found in `code`, without comments; names are read from `raw`, since code_of blanks literals.
    std::vector<Include> includes;
    const auto code = lines_of(code_of(text));
    const auto raw = lines_of(text);
    for (std::size_t i = 0; i < code.size(); ++i) {
        const auto hash = code[i].find_first_not_of(" \t");
        if (hash == std::string::npos || code[i][hash] != '#') continue;
        const auto word = code[i].find_first_not_of(" \t", hash + 1);
        if (word == std::string::npos || code[i].compare(word, 7, "include") != 0) continue;
        const auto open = raw[i].find_first_of("<\"", word + 7);
        if (open == std::string::npos) continue;
        const bool in_brackets = raw[i][open] == '<';
        const auto close = raw[i].find(in_brackets ? '>' : '"', open + 1);
        includes.push_back({raw[i].substr(open + 1, close - open - 1), in_brackets, static_cast<int>(i) + 1});
    }
    return includes;
}

std::vector<Token> tokens_of(std::string_view code) {
    std::vector<Token> tokens;
    int line = 0;
    bool directive = false;
    for (const std::string& text : lines_of(code)) {
        ++line;
        const auto first = text.find_first_not_of(" \t");
        directive = directive || (first != std::string::npos && text[first] == '#');
        if (directive) {
            directive = text.ends_with('\\');
            continue;
        }
        for (std::size_t i = 0; i < text.size();) {
            if (std::isspace(static_cast<unsigned char>(text[i]))) {
                ++i;
                continue;
            }
            std::size_t end = i + 1;
            if (is_word(text[i]))
                while (end < text.size() && is_word(text[end])) ++end;
            else if (text.compare(i, 2, "::") == 0)
                ++end;
            tokens.push_back({text.substr(i, end - i), line});
            i = end;
        }
    }
    return tokens;
}

}  // namespace cairn::house
