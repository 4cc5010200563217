#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::house {

/// `text` with comments and the contents of string and character literals replaced by spaces. Offsets do not change:
///
///     int a;  // see "b"        ->  int a;
///     f("exit(1)", 'x');        ->  f("       ", ' ');
std::string code_of(std::string_view text);

/// One `#include` directive: the name, and whether it is in angle brackets or quotes.
struct Include {
    std::string name;
    bool in_brackets;
    int line;
};
/// The include directives of a source, except in comments.
std::vector<Include> includes_of(std::string_view text);

/// One identifier, number or punctuation mark of a source; `::` is one token.
struct Token {
    std::string text;
    int line;
};
/// The tokens of `code` (the result of code_of), except preprocessor directives.
std::vector<Token> tokens_of(std::string_view code);

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text);

/// True if `c` may occur in an identifier.
bool is_word(char c);

}  // namespace cairn::house
