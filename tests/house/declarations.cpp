#include "tests/house/declarations.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
#include <array>

namespace cairn::house {
namespace {

class Parser {
public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    std::vector<Declaration> all() {
        std::vector<Declaration> found;
        read_scope(found, true, {});
        return found;
    }

private:
    bool at_end() const { return i_ >= tokens_.size(); }
    const std::string& text(std::size_t i) const {
        static const std::string none;
        return i < tokens_.size() ? tokens_[i].text : none;
    }
    bool is(const char* word) const { return text(i_) == word; }
    int line(std::size_t i) const { return tokens_.empty() ? 0 : tokens_[std::min(i, tokens_.size() - 1)].line; }

    /// Moves past the bracket that closes the one at `i_`.
    void skip_block(const char* open, const char* close) {
        int depth = 0;
        do {
            if (is(open)) ++depth;
            if (is(close)) --depth;
            ++i_;
        } while (!at_end() && depth > 0);
    }

    /// Reads declarations up to the closing brace of the scope, which is consumed.
    void read_scope(std::vector<Declaration>& found, bool is_public, const std::string& type) {
        while (!at_end() && !is("}")) {
            if (is(";")) {
                ++i_;
            } else if (is("namespace") || (is("inline") && text(i_ + 1) == "namespace")) {
                read_namespace(found);
            } else if (is("extern") && text(i_ + 1) == "\"") {
                while (!at_end() && !is("{")) ++i_;
                ++i_;
                read_scope(found, true, {});
            } else if ((is("public") || is("private") || is("protected")) && text(i_ + 1) == ":") {
                is_public = is("public");
                i_ += 2;
            } else {
                Declaration one = read_declaration(type);
                if (is_public) found.push_back(std::move(one));
            }
        }
        ++i_;
    }

    void read_namespace(std::vector<Declaration>& found) {
        bool is_hidden = false;
        bool is_named = false;
        for (; !at_end() && !is("{") && !is(";") && !is("="); ++i_) {
            is_hidden = is_hidden || is("detail");
            is_named = is_named || (is_word(text(i_)[0]) && !is("inline") && !is("namespace"));
        }
        if (!is("{")) {
            while (!at_end() && !is(";")) ++i_;
            return;
        }
        ++i_;
        std::vector<Declaration> inner;
        read_scope(inner, true, {});
        if (!is_hidden && is_named) found.insert(found.end(), inner.begin(), inner.end());
    }

    /// Moves past `template <...>`, `[[...]]` and specifiers that do not affect the kind of a declaration.
    void skip_prefix() {
        for (;;) {
            if (is("template")) {
                ++i_;
                skip_block("<", ">");
            } else if (is("[") && text(i_ + 1) == "[") {
                skip_block("[", "]");
            } else if (is("CAIRN_API") || is("inline") || is("constexpr") || is("static") || is("extern") ||
                       is("explicit") || is("virtual")) {
                ++i_;
            } else {
                return;
            }
        }
    }

    Declaration read_declaration(const std::string& type) {
        Declaration one;
        const std::size_t first = i_;
        one.line = line(first);
        skip_prefix();
        const bool is_friend = is("friend");
        if (is_friend) {
            ++i_;
            skip_prefix();
        }
        if (is("using") || is("typedef")) {
            read_alias(one);
        } else if (is("static_assert") || (is_friend && (is("class") || is("struct")))) {
            one.needs_comment = false;
            skip_to_semicolon(one);
        } else if (is("class") || is("struct") || is("union") || is("enum")) {
            read_type(one);
        } else {
            read_value(one, type);
        }
        one.last_line = line(i_ - 1);
        if (one.head_line == 0) one.head_line = one.last_line;
        return one;
    }

    void skip_to_semicolon(Declaration& one) {
        while (!at_end() && !is(";")) {
            if (is("{"))
                skip_block("{", "}");
            else
                ++i_;
        }
        one.head_line = line(i_);
        ++i_;
    }

    void read_alias(Declaration& one) {
        one.kind = Declaration::Kind::alias;
        const bool names_something = text(i_ + 2) == "=" || is("typedef");
        one.names = {text(i_ + 1)};
        one.needs_comment = names_something;  // `using Base::Base;` names members that are documented elsewhere
        skip_to_semicolon(one);
    }

    void read_type(Declaration& one) {
        one.kind = Declaration::Kind::type;
        const bool is_enum = is("enum");
        const bool starts_public = !is("class");
        std::string name;
        for (++i_; !at_end() && !is("{") && !is(";") && !is(":"); ++i_)
            if (is_word(text(i_)[0]) && !is("class") && !is("struct") && !is("CAIRN_API") && !is("final"))
                name = text(i_);
        one.names = {name};
        while (!at_end() && !is("{") && !is(";")) ++i_;
        one.head_line = line(i_);
        if (is(";")) {
            one.needs_comment = false;
            ++i_;
            return;
        }
        if (is_enum) {
            skip_block("{", "}");
        } else {
            ++i_;
            read_scope(one.members, starts_public, name);
        }
        while (!at_end() && !is(";")) ++i_;
        ++i_;
    }

    /// Reads a function or a variable: a function if a round bracket outside angle brackets precedes any initialiser.
    void read_value(Declaration& one, const std::string& type) {
        int angle = 0;
        bool initialised = false;
        const std::size_t first = i_;
        for (; !at_end(); ++i_) {
            const bool after_operator = i_ > first && text(i_ - 1) == "operator";
            if (after_operator && is("(")) {
                i_ += 2;  // operator()
                return read_function(one, "operator()", type);
            }
            if (after_operator) {
                std::string name = "operator";
                while (!at_end() && !is("(")) name += text(i_++);
                return read_function(one, name, type);
            }
            if (is("<")) ++angle;
            if (is(">")) --angle;
            if (angle > 0) continue;
            if (is("(") && !initialised) {
                if (text(i_ + 1) != "*") return read_function(one, text(i_ - 1), type);
                one.names.push_back(text(i_ + 2));  // a pointer to function
                skip_block("(", ")");
                skip_block("(", ")");
                initialised = true;
            }
            if ((is(";") || is("=") || is("{") || is(",") || is("[") || is(":")) && !initialised && i_ > first)
                one.names.push_back(text(i_ - 1));
            if (is("[")) initialised = true;
            if (is("=")) initialised = true;
            if (is(",")) initialised = false;
            if (is("{")) {
                skip_block("{", "}");
                initialised = true;
                --i_;
            } else if (is(";")) {
                break;
            }
        }
        one.kind = Declaration::Kind::variable;
        one.head_line = line(i_);
        ++i_;
    }

    /// Reads from the parameter list at `i_` to the end of the body or the semicolon.
    void read_function(Declaration& one, const std::string& name, const std::string& type) {
        one.kind = Declaration::Kind::function;
        one.names = {name};
        const bool is_destructor = i_ >= 2 && text(i_ - 2) == "~";
        const bool is_special = is_destructor || name == type || name == "operator=";
        skip_block("(", ")");
        bool has_initialisers = false;
        while (!at_end() && !is(";")) {
            if (is("=") && (text(i_ + 1) == "default" || text(i_ + 1) == "delete")) one.needs_comment = false;
            has_initialisers = has_initialisers || is(":");
            if (!is("{")) {
                ++i_;
                continue;
            }
            if (one.head_line == 0) one.head_line = line(i_);
            skip_block("{", "}");
            // In `: a_{1}, b_{2} {}`, the body is the block that neither `{` nor `,` follows.
            if (!has_initialisers || (!is("{") && !is(","))) {
                one.needs_comment = one.needs_comment && !is_special;
                return;
            }
        }
        if (one.head_line == 0) one.head_line = line(i_);
        one.needs_comment = one.needs_comment && !is_special;
        ++i_;
    }

    std::vector<Token> tokens_;
    std::size_t i_ = 0;
};

}  // namespace

std::vector<Declaration> public_declarations(std::string_view text) { return Parser(tokens_of(code_of(text))).all(); }

}  // namespace cairn::house
