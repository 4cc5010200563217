#include <algorithm>
#include <utility>

#include "graph/types/dim_table.hpp"
#include "graph/types/text_cursor.hpp"

namespace cairn::inline v0 {

namespace detail {

namespace {

std::string text_of(const Polynomial& polynomial);

std::string text_of(const Atom& atom) {
    std::string name;
    Polynomial first = atom.kind == AtomKind::symbol ? Polynomial{} : atom.args[0];
    switch (atom.kind) {
        case AtomKind::symbol: return atom.name;
        case AtomKind::floordiv: name = "floordiv"; break;
        case AtomKind::mod: name = "mod"; break;
        case AtomKind::min: name = "min"; break;
        case AtomKind::max: name = "max"; break;
    }
    // ceildiv(x, d) is stored as floor((x + d - 1) / d).
    if (atom.kind == AtomKind::floordiv && atom.args[1].is_constant()) {
        const auto lift = Polynomial::constant(atom.args[1].constant_term() - 1);
        if (first.constant_term() == lift.constant_term()) {
            name = "ceildiv";
            first = subtract(first, lift);
        }
    }
    std::string text = name + "(" + text_of(first);
    for (std::size_t i = 1; i < atom.args.size(); ++i) text += ", " + text_of(atom.args[i]);
    return text + ")";
}

// The term without its sign.
std::string text_of(const Term& term) {
    const auto value = static_cast<std::uint64_t>(term.coefficient);
    const std::uint64_t magnitude = term.coefficient < 0 ? std::uint64_t{0} - value : value;
    std::string text;
    if (magnitude != 1 || term.factors.empty()) text = std::to_string(magnitude);
    for (const auto* atom : term.factors) {
        if (!text.empty()) text += "*";
        text += text_of(*atom);
    }
    return text;
}

std::string text_of(const Polynomial& polynomial) {
    if (polynomial.is_zero()) return "0";
    std::string text;
    for (const auto& term : polynomial.terms) {
        if (text.empty()) {
            text = term.coefficient < 0 ? "-" : "";
        } else {
            text += term.coefficient < 0 ? " - " : " + ";
        }
        text += text_of(term);
    }
    return text;
}

void collect(const Polynomial& polynomial, std::vector<Symbols::Symbol>& symbols) {
    for (const auto& term : polynomial.terms) {
        for (const auto* atom : term.factors) {
            for (const auto& arg : atom->args) collect(arg, symbols);
            if (atom->kind != AtomKind::symbol) continue;
            const auto position =
                std::lower_bound(symbols.begin(), symbols.end(), atom->name,
                                 [](const auto& symbol, const auto& name) { return symbol.name < name; });
            if (position != symbols.end() && position->name == atom->name) continue;
            symbols.insert(position, {atom->name, to_int64(atom->bounds.low), to_int64(atom->bounds.high)});
        }
    }
}

/// sum := ['-'] product {('+' | '-') product};  product := factor {'*' factor}
/// factor := integer | symbol | function '(' sum {',' sum} ')' | '(' sum ')'
class DimParser {
public:
    DimParser(types::TextCursor& cursor, Symbols& symbols, types::UnknownSymbol unknown)
        : cursor_(cursor), symbols_(symbols), unknown_(unknown) {}

    Dim sum() {
        constexpr int max_depth = 64;
        if (++depth_ > max_depth) cursor_.fail("brackets are nested too deeply");
        Dim result = product(cursor_.accept("-"));
        while (true) {
            const std::size_t position = cursor_.position();
            if (cursor_.accept("+")) {
                result = checked(position, [&] { return result + product(false); });
            } else if (cursor_.peek() == '-' && !cursor_.accept("->")) {
                cursor_.accept("-");
                result = checked(position, [&] { return result + product(true); });
            } else {
                cursor_.seek(position);
                break;
            }
        }
        --depth_;
        return result;
    }

private:
    Dim product(bool negative) {
        Dim result = factor(negative);
        while (true) {
            const std::size_t position = cursor_.position();
            if (!cursor_.accept("*")) break;
            result = checked(position, [&] { return result * factor(false); });
        }
        return result;
    }

    // A number is read with its sign, since -INT64_MIN does not exist.
    Dim factor(bool negative) {
        if (cursor_.at_digit()) return cursor_.integer(negative);
        if (negative) return -1 * factor(false);
        if (cursor_.accept("(")) {
            Dim result = sum();
            cursor_.expect(")");
            return result;
        }
        const bool more = cursor_.peek() != '\0';
        const std::size_t position = cursor_.position();
        const auto name = cursor_.name();
        if (name.empty() || !more) cursor_.fail_expected("a size");
        if (cursor_.peek() == '(') return function(name, position);
        if (auto known = symbols_.find(name)) return *known;
        if (unknown_ == types::UnknownSymbol::refuse) {
            cursor_.fail("unknown symbol '" + std::string(name) + "'", position);
        }
        constexpr std::int64_t default_high = 1048576;
        return checked(position, [&] { return symbols_.add(name, 1, default_high); });
    }

    Dim function(std::string_view name, std::size_t position) {
        using Binary = Dim (*)(const Dim&, const Dim&);
        constexpr std::pair<std::string_view, Binary> functions[] = {
            {"floordiv", v0::floordiv}, {"ceildiv", v0::ceildiv}, {"mod", v0::mod}, {"min", v0::min}, {"max", v0::max}};
        const auto* found = std::find_if(std::begin(functions), std::end(functions),
                                         [&](const auto& row) { return row.first == name; });
        if (found == std::end(functions)) {
            cursor_.fail("unknown function '" + std::string(name) + "': floordiv, ceildiv, mod, min or max", position);
        }
        cursor_.expect("(");
        Dim result = sum();
        cursor_.expect(",");
        const bool is_variadic = name == "min" || name == "max";
        do {
            const Dim next = sum();
            result = checked(position, [&] { return found->second(result, next); });
        } while (is_variadic && cursor_.accept(","));
        cursor_.expect(")");
        return result;
    }

    // Reports errors of the algebra (overflow, division by zero) as errors of the text.
    template <typename Work>
    Dim checked(std::size_t position, Work work) {
        try {
            return work();
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::graph) throw;
            cursor_.fail(error, position);
        }
    }

    types::TextCursor& cursor_;
    Symbols& symbols_;
    types::UnknownSymbol unknown_;
    int depth_ = 0;
};

}  // namespace

}  // namespace detail

std::string to_string(const Dim& dim) {
    return dim.is_constant() ? std::to_string(dim.constant()) : detail::text_of(*dim.node()->polynomial);
}

Dim Symbols::parse(std::string_view text) {
    types::TextCursor cursor(text, "size");
    Dim result = types::parse_dim(cursor, *this, types::UnknownSymbol::refuse);
    if (!cursor.at_end()) cursor.fail_expected("the end of the size");
    return result;
}

}  // namespace cairn::inline v0

namespace cairn::types {

Dim parse_dim(TextCursor& cursor, Symbols& symbols, UnknownSymbol unknown) {
    return detail::DimParser(cursor, symbols, unknown).sum();
}

std::vector<Dim> parse_dims(TextCursor& cursor, Symbols& symbols, UnknownSymbol unknown, std::string_view open,
                            std::string_view close) {
    cursor.expect(open);
    std::vector<Dim> result;
    if (cursor.accept(close)) return result;
    do { result.push_back(parse_dim(cursor, symbols, unknown)); } while (cursor.accept(","));
    if (!cursor.accept(close)) cursor.fail_expected("',' or '" + std::string(close) + "'");
    return result;
}

void collect_symbols(const Dim& dim, std::vector<Symbols::Symbol>& symbols) {
    if (!dim.is_constant()) detail::collect(*dim.node()->polynomial, symbols);
}

}  // namespace cairn::types
