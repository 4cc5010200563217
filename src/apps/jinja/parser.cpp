#include "apps/jinja/fault.hpp"
#include "apps/jinja/lexer.hpp"
#include "apps/jinja/syntax.hpp"

#include <algorithm>
#include <charconv>

namespace cairn::jinja {

namespace {

using Kind = Expression::Kind;

constexpr int max_nesting = 100;  // of expressions in parentheses, and of statements
constexpr int max_depth = 150;    // of an expression tree

class Parser {
public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    std::vector<Statement> whole() {
        std::vector<Statement> all = statements();
        if (peek().kind != Token::Kind::end) refuse("'" + peek(1).text + "' is not expected");
        return all;
    }

private:
    /// Counts nested calls.
    struct Depth {
        explicit Depth(Parser& parser) : parser(parser) {
            if (++parser.depth_ > max_nesting)
                parser.refuse("nesting of more than " + std::to_string(max_nesting) + " levels is not supported");
        }
        ~Depth() { --parser.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
        Parser& parser;
    };

    const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
    Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
    [[noreturn]] void refuse(const std::string& what) const { unsupported(what, peek().line); }

    bool is_sign(std::string_view sign) const { return peek().kind == Token::Kind::sign && peek().text == sign; }
    bool is_name(std::string_view name, std::size_t ahead = 0) const {
        return peek(ahead).kind == Token::Kind::name && peek(ahead).text == name;
    }
    bool accept_sign(std::string_view sign) { return is_sign(sign) && (take(), true); }
    bool accept_name(std::string_view name) { return is_name(name) && (take(), true); }
    void expect_sign(std::string_view sign) {
        if (!accept_sign(sign)) refuse("expected '" + std::string(sign) + "', got " + shown());
    }
    std::string expect_a_name() {
        if (peek().kind != Token::Kind::name) refuse("expected a name, got " + shown());
        return take().text;
    }
    std::string shown() const {
        return peek().kind == Token::Kind::end || peek().text.empty() ? "the end of the tag" : "'" + peek().text + "'";
    }
    void end_block() {
        if (peek().kind != Token::Kind::block_end) refuse("expected the end of the tag, got " + shown());
        take();
    }

    Expression make(Kind kind, std::string text = {}, std::vector<Expression> parts = {}) const {
        Expression made{.kind = kind, .line = peek().line, .text = std::move(text), .parts = std::move(parts)};
        for (const Expression& part : made.parts) made.depth = std::max(made.depth, part.depth + 1);
        if (made.depth > max_depth)
            refuse("an expression tree deeper than " + std::to_string(max_depth) + " is not supported");
        return made;
    }
    Expression constant(Value value) const {
        Expression made = make(Kind::constant);
        made.constant = std::move(value);
        return made;
    }

    // --- statements

    bool at_block(std::string_view name) const { return peek().kind == Token::Kind::block_begin && is_name(name, 1); }

    /// The statements up to a block that ends or continues the one around them, which is not taken.
    std::vector<Statement> statements() {
        const Depth depth(*this);
        std::vector<Statement> list;
        for (;;) {
            const Token& token = peek();
            if (token.kind == Token::Kind::data) {
                list.push_back({.kind = Statement::Kind::data, .line = token.line, .text = token.text});
                take();
            } else if (token.kind == Token::Kind::output_begin) {
                const std::size_t line = take().line;
                Expression value = expression();
                if (peek().kind != Token::Kind::output_end) refuse("expected '}}', got " + shown());
                take();
                list.push_back({.kind = Statement::Kind::output, .line = line, .expressions = {std::move(value)}});
            } else if (token.kind == Token::Kind::block_begin && !ends_block()) {
                list.push_back(block());
            } else {
                return list;
            }
        }
    }

    bool ends_block() const { return peek(1).text.starts_with("end") || is_name("else", 1) || is_name("elif", 1); }

    std::vector<Statement> body_until(std::string_view end) {
        std::vector<Statement> body = statements();
        end_with(end);
        return body;
    }

    void end_with(std::string_view name) {
        if (!at_block(name)) refuse("expected '" + std::string(name) + "'");
        take(), take();
        if (name == "endmacro" && peek().kind == Token::Kind::name) take();
        end_block();
    }

    Statement block() {
        const std::size_t line = take().line;
        const std::string name = expect_a_name();
        Statement made{.line = line};
        if (name == "if") return branch(std::move(made));
        if (name == "for") return loop(std::move(made));
        if (name == "set") return set(std::move(made));
        if (name == "macro") return macro(std::move(made));
        if (name == "break" || name == "continue") {
            made.kind = name == "break" ? Statement::Kind::leave : Statement::Kind::next;
            end_block();
            return made;
        }
        if (name != "generation") unsupported("the tag '" + name + "' is not supported", line);
        made.kind = Statement::Kind::group;
        end_block();
        made.body = body_until("endgeneration");
        return made;
    }

    Statement branch(Statement made) {
        const Depth depth(*this);
        made.kind = Statement::Kind::branch;
        made.expressions.push_back(expression());
        end_block();
        made.body = statements();
        if (at_block("elif")) {
            const std::size_t line = take().line;
            take();
            made.otherwise.push_back(branch({.line = line}));
            return made;
        }
        if (at_block("else")) {
            take(), take(), end_block();
            made.otherwise = statements();
        }
        end_with("endif");
        return made;
    }

    Statement loop(Statement made) {
        made.kind = Statement::Kind::loop;
        const bool bracketed = accept_sign("(");
        do made.targets.push_back(expect_a_name());
        while (accept_sign(","));
        if (bracketed) expect_sign(")");
        if (!accept_name("in")) refuse("expected 'in', got " + shown());
        made.expressions.push_back(either());
        if (accept_name("if")) made.expressions.push_back(expression());
        if (is_name("recursive")) refuse("a recursive loop is not supported");
        end_block();
        made.body = statements();
        if (at_block("else")) {
            take(), take(), end_block();
            made.otherwise = statements();
        }
        end_with("endfor");
        return made;
    }

    Statement set(Statement made) {
        made.kind = Statement::Kind::set;
        do {
            std::string target = expect_a_name();
            if (accept_sign(".")) target += "." + expect_a_name();
            made.targets.push_back(std::move(target));
        } while (accept_sign(","));
        if (accept_sign("=")) {
            made.expressions.push_back(tuple());
            end_block();
            return made;
        }
        if (made.targets.size() != 1 || peek().kind != Token::Kind::block_end)
            refuse("expected '=' or the end of the tag, got " + shown());
        end_block();
        made.kind = Statement::Kind::set_block;
        made.body = body_until("endset");
        return made;
    }

    Statement macro(Statement made) {
        made.kind = Statement::Kind::macro;
        made.text = expect_a_name();
        expect_sign("(");
        while (!accept_sign(")")) {
            made.targets.push_back(expect_a_name());
            if (accept_sign("="))
                made.expressions.push_back(expression());
            else if (!made.expressions.empty())
                refuse("a parameter without a default follows one with a default");
            if (!is_sign(")")) expect_sign(",");
        }
        end_block();
        made.body = body_until("endmacro");
        return made;
    }

    // --- expressions, from the loosest operator to the tightest

    /// An expression, or several with commas between: a list.
    Expression tuple() {
        Expression first = expression();
        if (!is_sign(",")) return first;
        Expression made = make(Kind::list, {}, {});
        made.parts.push_back(std::move(first));
        while (accept_sign(",") && peek().kind != Token::Kind::block_end) made.parts.push_back(expression());
        return made;
    }

    Expression expression() {
        const Depth depth(*this);
        Expression value = either();
        while (accept_name("if")) {
            Expression condition = either();
            Expression otherwise = accept_name("else") ? expression() : make(Kind::absent);
            value = make(Kind::conditional, {}, {std::move(value), std::move(condition), std::move(otherwise)});
        }
        return value;
    }

    Expression either() {
        Expression left = both();
        while (accept_name("or")) left = make(Kind::binary, "or", {std::move(left), both()});
        return left;
    }

    Expression both() {
        Expression left = negation();
        while (accept_name("and")) left = make(Kind::binary, "and", {std::move(left), negation()});
        return left;
    }

    Expression negation() {
        const Depth depth(*this);
        if (accept_name("not")) return make(Kind::unary, "not", {negation()});
        return comparison();
    }

    Expression comparison() {
        Expression left = sum();
        for (;;) {
            std::string sign;
            for (const char* known : {"==", "!=", "<=", ">=", "<", ">"})
                if (sign.empty() && accept_sign(known)) sign = known;
            if (sign.empty() && accept_name("in")) sign = "in";
            if (sign.empty() && is_name("not") && is_name("in", 1)) take(), take(), sign = "not in";
            if (sign.empty()) return left;
            left = make(Kind::binary, sign, {std::move(left), sum()});
        }
    }

    Expression sum() {
        Expression left = joined();
        for (;;) {
            if (accept_sign("+"))
                left = make(Kind::binary, "+", {std::move(left), joined()});
            else if (accept_sign("-"))
                left = make(Kind::binary, "-", {std::move(left), joined()});
            else
                return left;
        }
    }

    Expression joined() {
        Expression left = product();
        while (accept_sign("~")) left = make(Kind::binary, "~", {std::move(left), product()});
        return left;
    }

    Expression product() {
        Expression left = signed_value();
        for (;;) {
            std::string sign;
            for (const char* known : {"*", "//", "/", "%"})
                if (sign.empty() && accept_sign(known)) sign = known;
            if (sign.empty()) return left;
            left = make(Kind::binary, sign, {std::move(left), signed_value()});
        }
    }

    Expression signed_value() { return filtered(unary()); }

    Expression unary() {
        const Depth depth(*this);
        if (accept_sign("-")) return make(Kind::unary, "-", {unary()});
        if (accept_sign("+")) return unary();
        return with_suffixes(primary());
    }

    Expression filtered(Expression value) {
        for (;;) {
            if (accept_sign("|")) {
                value = make(Kind::filter, expect_a_name(), {std::move(value)});
                value.names.emplace_back();
                if (accept_sign("(")) arguments(value);
                value = with_suffixes(std::move(value));
            } else if (accept_name("is")) {
                const bool negated = accept_name("not");
                value = make(Kind::test, expect_a_name(), {std::move(value)});
                value.names.emplace_back();
                if (accept_sign("("))
                    arguments(value);
                else if (peek().kind == Token::Kind::string || peek().kind == Token::Kind::integer)
                    value.parts.push_back(primary()), value.names.emplace_back();
                if (negated) value = make(Kind::unary, "not", {std::move(value)});
            } else {
                return value;
            }
        }
    }

    Expression with_suffixes(Expression value) {
        for (;;) {
            if (accept_sign(".")) {
                if (peek().kind == Token::Kind::integer) {
                    value = make(Kind::item, {}, {std::move(value), primary()});
                    continue;
                }
                value = make(Kind::attribute, expect_a_name(), {std::move(value)});
            } else if (accept_sign("[")) {
                value = subscript(std::move(value));
            } else if (accept_sign("(")) {
                value = make(Kind::call, {}, {std::move(value)});
                value.names.emplace_back();
                arguments(value);
            } else {
                return value;
            }
        }
    }

    Expression subscript(Expression value) {
        const auto part = [&] { return is_sign(":") || is_sign("]") ? make(Kind::absent) : expression(); };
        Expression first = part();
        if (first.kind != Kind::absent && accept_sign("]"))
            return make(Kind::item, {}, {std::move(value), std::move(first)});
        Expression made = make(Kind::slice, {}, {});
        made.parts.push_back(std::move(value));
        made.parts.push_back(std::move(first));
        while (made.parts.size() < 4 && accept_sign(":")) made.parts.push_back(part());
        while (made.parts.size() < 4) made.parts.push_back(make(Kind::absent));
        expect_sign("]");
        return made;
    }

    /// The arguments behind "(", which are added to the parts of a call.
    void arguments(Expression& call) {
        while (!accept_sign(")")) {
            std::string name;
            if (peek().kind == Token::Kind::name && peek(1).kind == Token::Kind::sign && peek(1).text == "=") {
                name = take().text;
                take();
            }
            call.parts.push_back(expression());
            call.names.push_back(std::move(name));
            if (!is_sign(")")) expect_sign(",");
        }
    }

    Expression primary() {
        const Depth depth(*this);
        const Token token = take();
        switch (token.kind) {
            case Token::Kind::string: {
                std::string text = token.text;
                while (peek().kind == Token::Kind::string) text += take().text;
                return constant(Value(std::move(text)));
            }
            case Token::Kind::integer: return constant(Value::Variant(number<std::int64_t>(token.text)));
            case Token::Kind::real: return constant(Value::Variant(number<double>(token.text)));
            case Token::Kind::name: return named(token.text);
            default: break;
        }
        if (token.text == "(") return bracketed();
        if (token.text == "[") {
            Expression made = make(Kind::list);
            while (!accept_sign("]")) {
                made.parts.push_back(expression());
                if (!is_sign("]")) expect_sign(",");
            }
            return made;
        }
        if (token.text == "{") {
            Expression made = make(Kind::dict);
            while (!accept_sign("}")) {
                made.parts.push_back(expression());
                expect_sign(":");
                made.parts.push_back(expression());
                if (!is_sign("}")) expect_sign(",");
            }
            return made;
        }
        --at_;
        refuse("expected a value, got " + shown());
    }

    Expression bracketed() {
        Expression first = expression();
        if (accept_sign(")")) return first;
        Expression made = make(Kind::list);
        made.parts.push_back(std::move(first));
        while (accept_sign(",") && !is_sign(")")) made.parts.push_back(expression());
        expect_sign(")");
        return made;
    }

    Expression named(const std::string& name) const {
        if (name == "true" || name == "True") return constant(Value::Variant(true));
        if (name == "false" || name == "False") return constant(Value::Variant(false));
        if (name == "none" || name == "None") return constant(Value::Variant(None{}));
        return make(Kind::name, name);
    }

    template <typename Number>
    static Number number(const std::string& text) {
        Number value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

std::vector<Statement> parse(std::string_view source) {
    // Jinja writes all ends of lines as newlines.
    std::string text;
    for (std::size_t i = 0; i < source.size(); ++i)
        if (source[i] != '\r')
            text += source[i];
        else if (i + 1 == source.size() || source[i + 1] != '\n')
            text += '\n';
    return Parser(tokens_of(text)).whole();
}

}  // namespace cairn::jinja
