#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::house {

/// `text` with every comment and the inside of every string and character literal replaced by spaces. Lines keep their
/// places:
///
///     int a;  // see "b"        ->  int a;
///     f("exit(1)", 'x');        ->  f("       ", ' ');
std::string code_of(std::string_view text);

/// One `#include` line: the name in the quotes or brackets, and which of them.
struct Include {
    std::string name;
    bool in_brackets;
    int line;
};
/// The includes of a source, comments left out.
std::vector<Include> includes_of(std::string_view text);

/// One identifier or punctuation mark of a source; `::` is one token, so are numbers.
struct Token {
    std::string text;
    int line;
};
/// The tokens of `code` (what code_of returned), preprocessor lines left out.
std::vector<Token> tokens_of(std::string_view code);

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text);

/// True where `c` may stand in an identifier.
bool is_word(char c);

}  // namespace cairn::house
