#include "apps/jinja/lexer.hpp"

#include "apps/jinja/fault.hpp"

#include <algorithm>

namespace cairn::jinja {

namespace {

using TokenKind = Token::Kind;

constexpr std::string_view blanks = " \t\n\r\v\f";

bool begins_name(char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z' ? true : byte == '_'; }
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

class Lexer {
public:
    explicit Lexer(std::string_view source) : rest_(source) {
        if (rest_.ends_with('\n')) rest_.remove_suffix(1);  // as Jinja without keep_trailing_newline
    }

    std::vector<Token> all() {
        while (!rest_.empty()) {
            const std::size_t tag = next_tag();
            std::string_view data = rest_.substr(0, tag);
            if (tag < rest_.size()) data = without_end(data, rest_.substr(tag));
            add_data(data);
            advance(tag);
            if (!rest_.empty()) read_tag();
        }
        add(TokenKind::end, "");
        return std::move(tokens_);
    }

private:
    void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

    void add_data(std::string_view data) {
        if (!data.empty()) add(TokenKind::data, std::string(data));
    }

    void advance(std::size_t count) {
        line_ += static_cast<std::size_t>(
            std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
        rest_.remove_prefix(count);
    }

    std::size_t next_tag() const {
        for (std::size_t at = rest_.find('{'); at != rest_.npos; at = rest_.find('{', at + 1))
            if (at + 1 < rest_.size() && std::string_view("{%#").find(rest_[at + 1]) != std::string_view::npos)
                return at;
        return rest_.size();
    }

    /// The text before a tag, without the white space that the tag strips.
    std::string_view without_end(std::string_view data, std::string_view tag) const {
        const char sign = tag.size() > 2 ? tag[2] : ' ';
        if (sign == '-') return data.substr(0, data.find_last_not_of(blanks) + 1);
        if (sign == '+' || tag[1] == '{') return data;
        const std::size_t line = data.rfind('\n') + 1;  // 0 if there is none
        const bool begins_line = line > 0 || at_line_start_;
        const bool is_blank = data.substr(line).find_first_not_of(" \t\v\f") == data.npos;
        return begins_line && is_blank ? data.substr(0, line) : data;
    }

    void read_tag() {
        const char kind = rest_[1];
        if (kind == '#') {
            const std::size_t end = rest_.find("#}");
            if (end == rest_.npos) unsupported("a comment does not end", line_);
            const bool strips = end > 2 && rest_[end - 1] == '-';
            advance(end + 2);
            return end_tag(strips, true);
        }
        add(kind == '{' ? TokenKind::output_begin : TokenKind::block_begin, "");
        const bool has_sign = rest_.size() > 2 && (rest_[2] == '-' || rest_[2] == '+');
        advance(has_sign ? 3 : 2);
        const std::string_view end = kind == '{' ? "}}" : "%}";
        std::size_t depth = 0;
        for (;;) {
            advance(std::min(rest_.find_first_not_of(blanks), rest_.size()));
            if (rest_.empty()) unsupported("a tag does not end", line_);
            const bool strips = rest_[0] == '-' && rest_.substr(1).starts_with(end);
            if (depth == 0 && (strips || rest_.starts_with(end))) {
                add(kind == '{' ? TokenKind::output_end : TokenKind::block_end, "");
                advance(strips ? 3 : 2);
                return end_tag(strips, kind == '%');
            }
            const std::string text = read_token();
            if (text == "{" || text == "[" || text == "(") ++depth;
            if ((text == "}" || text == "]" || text == ")") && depth > 0) --depth;
        }
    }

    void end_tag(bool strips, bool trims_newline) {
        const std::size_t before = rest_.size();
        if (strips)
            advance(std::min(rest_.find_first_not_of(blanks), rest_.size()));
        else if (trims_newline && rest_.starts_with("\n"))
            advance(1);
        at_line_start_ = trims_newline && !strips && rest_.size() < before;
    }

    /// Reads one token within a tag; returns the text of a sign, nothing for other tokens.
    std::string read_token() {
        const char first = rest_[0];
        if (first == '\'' || first == '"') return read_string(first), "";
        if (is_digit(first)) return read_number(), "";
        if (begins_name(first)) {
            const auto end = std::find_if_not(rest_.begin(), rest_.end(),
                                              [](char byte) { return begins_name(byte) || is_digit(byte); });
            const auto size = static_cast<std::size_t>(end - rest_.begin());
            add(TokenKind::name, std::string(rest_.substr(0, size)));
            advance(size);
            return "";
        }
        for (const std::string_view sign : {"==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "<",
                                            ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ",", ":", ".", "|"})
            if (rest_.starts_with(sign)) {
                add(TokenKind::sign, std::string(sign));
                advance(sign.size());
                return std::string(sign);
            }
        unsupported(std::string("the character '") + first + "' is not expected in a tag", line_);
    }

    void read_string(char quote) {
        std::string text;
        std::size_t at = 1;
        for (; at < rest_.size() && rest_[at] != quote; ++at) {
            if (rest_[at] != '\\' || at + 1 == rest_.size()) {
                text += rest_[at];
                continue;
            }
            const char next = rest_[++at];
            const std::string_view letters = "nrtbf0", meanings("\n\r\t\b\f\0", 6);
            const std::size_t known = letters.find(next);
            if (next == 'u' || next == 'x' || next == 'N' || next == 'U')
                unsupported(std::string("the escape \\") + next + " in a string is not supported", line_);
            if (known != letters.npos)
                text += meanings[known];
            else if (next != '\n')
                text += std::string_view("\\'\"").find(next) != std::string_view::npos ? std::string(1, next)
                                                                                       : std::string{'\\', next};
        }
        if (at == rest_.size()) unsupported("a string does not end", line_);
        add(TokenKind::string, std::move(text));
        advance(at + 1);
    }

    void read_number() {
        std::size_t size = 0;
        bool is_real = false;
        for (; size < rest_.size(); ++size) {
            const bool is_point =
                rest_[size] == '.' && !is_real && size + 1 < rest_.size() && is_digit(rest_[size + 1]);
            if (!is_digit(rest_[size]) && !is_point) break;
            is_real = is_real || is_point;
        }
        if (size > 18) unsupported("a number is too long", line_);
        add(is_real ? TokenKind::real : TokenKind::integer, std::string(rest_.substr(0, size)));
        advance(size);
    }

    std::string_view rest_;
    std::vector<Token> tokens_;
    std::size_t line_ = 1;
    bool at_line_start_ = true;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Lexer(source).all(); }

}  // namespace cairn::jinja
