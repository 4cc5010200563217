#include "kernels/cuda/generate/size_text.hpp"

#include "graph/types/dim_table.hpp"

#include <fmt/format.h>

namespace cairn::kernels::cuda {
namespace {

using detail::Atom;
using detail::AtomKind;
using detail::Polynomial;
using detail::Term;

std::string text_of(const Polynomial& polynomial);

// The smallest number has no literal.
std::string literal(std::int64_t value) {
    if (value == INT64_MIN) return "(-9223372036854775807ll - 1)";
    return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

bool is_positive(const Polynomial& polynomial) { return detail::bounds(polynomial).low > 0; }
bool is_natural(const Polynomial& polynomial) { return detail::bounds(polynomial).low >= 0; }

std::string text_of(const Atom& atom) {
    if (atom.kind == AtomKind::symbol) return fmt::format("s{}", atom.index);
    const std::string first = text_of(atom.args[0]);
    const bool is_plain = is_natural(atom.args[0]) && atom.args.size() == 2 && is_positive(atom.args[1]);
    const auto nested = [&](const char* function) {
        std::string text = first;
        for (std::size_t i = 1; i < atom.args.size(); ++i)
            text = fmt::format("{}({}, {})", function, text, text_of(atom.args[i]));
        return text;
    };
    switch (atom.kind) {
        case AtomKind::floordiv:
            return is_plain ? fmt::format("({} / {})", first, text_of(atom.args[1])) : nested("floordiv");
        case AtomKind::mod:
            return is_plain ? fmt::format("({} % {})", first, text_of(atom.args[1])) : nested("floormod");
        case AtomKind::min: return nested("smaller");
        default: return nested("larger");
    }
}

std::string text_of(const Term& term) {
    std::string text;
    if (term.coefficient != 1 || term.factors.empty()) text = literal(term.coefficient);
    for (const Atom* atom : term.factors) text += (text.empty() ? "" : " * ") + text_of(*atom);
    return text;
}

std::string text_of(const Polynomial& polynomial) {
    if (polynomial.is_zero()) return "0";
    std::string text;
    for (const Term& term : polynomial.terms) text += (text.empty() ? "" : " + ") + text_of(term);
    return polynomial.is_constant() || (polynomial.terms.size() == 1 && polynomial.terms[0].factors.size() == 1 &&
                                        polynomial.terms[0].coefficient == 1)
               ? text
               : "(" + text + ")";
}

}  // namespace

std::string size_text(const Dim& size) { return text_of(detail::DimTable::polynomial(size)); }

bool is_multiple(const Dim& size, std::int64_t factor) {
    if (size.is_constant()) return size.constant() % factor == 0;
    return mod(size, factor) == Dim(0);
}

}  // namespace cairn::kernels::cuda
