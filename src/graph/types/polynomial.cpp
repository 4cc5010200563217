#include "graph/types/polynomial.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn::inline v0::detail {

namespace {

// Far above any real size; keeps hostile text from filling memory.
constexpr std::size_t max_terms = 2048;
constexpr std::size_t max_degree = 64;

Polynomial normalized(std::vector<Term> terms) {
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return compare(a.factors, b.factors) < 0; });
    Polynomial result;
    for (auto& term : terms) {
        if (!result.terms.empty() && result.terms.back().factors == term.factors) {
            auto& sum = result.terms.back().coefficient;
            sum = checked_add(sum, term.coefficient);
            continue;
        }
        if (!result.terms.empty() && result.terms.back().coefficient == 0) result.terms.pop_back();
        result.terms.push_back(std::move(term));
    }
    if (!result.terms.empty() && result.terms.back().coefficient == 0) result.terms.pop_back();
    if (result.terms.size() > max_terms) throw SizeOverflow{};
    return result;
}

}  // namespace

Polynomial Polynomial::constant(std::int64_t value) {
    Polynomial result;
    if (value != 0) result.terms.push_back({value, {}});
    return result;
}

Polynomial Polynomial::atom(const Atom* atom) { return {{{1, {atom}}}}; }

std::int64_t Polynomial::constant_term() const noexcept {
    return !terms.empty() && terms[0].factors.empty() ? terms[0].coefficient : 0;
}

std::strong_ordering compare(const Atom& a, const Atom& b) {
    if (&a == &b) return std::strong_ordering::equal;
    if (a.kind != b.kind) return a.kind <=> b.kind;
    if (a.kind == AtomKind::symbol) return a.name.compare(b.name) <=> 0;
    if (a.args.size() != b.args.size()) return a.args.size() <=> b.args.size();
    for (std::size_t i = 0; i < a.args.size(); ++i) {
        if (const auto order = compare(a.args[i], b.args[i]); order != 0) return order;
    }
    return std::strong_ordering::equal;
}

std::strong_ordering compare(const Monomial& a, const Monomial& b) {
    if (a.size() != b.size()) return a.size() <=> b.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (const auto order = compare(*a[i], *b[i]); order != 0) return order;
    }
    return std::strong_ordering::equal;
}

std::strong_ordering compare(const Polynomial& a, const Polynomial& b) {
    for (std::size_t i = 0; i < std::min(a.terms.size(), b.terms.size()); ++i) {
        if (const auto order = compare(a.terms[i].factors, b.terms[i].factors); order != 0) return order;
        if (a.terms[i].coefficient != b.terms[i].coefficient) return a.terms[i].coefficient <=> b.terms[i].coefficient;
    }
    return a.terms.size() <=> b.terms.size();
}

Polynomial add(const Polynomial& a, const Polynomial& b) {
    std::vector<Term> terms = a.terms;
    terms.insert(terms.end(), b.terms.begin(), b.terms.end());
    return normalized(std::move(terms));
}

Polynomial subtract(const Polynomial& a, const Polynomial& b) { return add(a, scale(b, -1)); }

Polynomial scale(const Polynomial& a, std::int64_t factor) {
    if (factor == 0) return {};
    Polynomial result = a;
    for (auto& term : result.terms) term.coefficient = checked_multiply(term.coefficient, factor);
    return result;
}

Polynomial multiply(const Polynomial& a, const Polynomial& b) {
    if (a.terms.size() * b.terms.size() > 16 * max_terms) throw SizeOverflow{};
    std::vector<Term> terms;
    terms.reserve(a.terms.size() * b.terms.size());
    const auto before = [](const Atom* x, const Atom* y) { return compare(*x, *y) < 0; };
    for (const auto& x : a.terms) {
        for (const auto& y : b.terms) {
            if (x.factors.size() + y.factors.size() > max_degree) throw SizeOverflow{};
            Term term{checked_multiply(x.coefficient, y.coefficient), {}};
            std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(),
                       std::back_inserter(term.factors), before);
            terms.push_back(std::move(term));
        }
    }
    return normalized(std::move(terms));
}

Polynomial replace(const Polynomial& a, const Atom* atom, const Polynomial& value) {
    Polynomial result;
    for (const auto& term : a.terms) {
        Term rest = term;
        const auto powers = std::erase(rest.factors, atom);
        Polynomial product{{std::move(rest)}};
        for (std::size_t i = 0; i < powers; ++i) product = multiply(product, value);
        result = add(result, product);
    }
    return result;
}

Interval bounds(const Monomial& factors) {
    Interval result{1, 1};
    for (const auto* atom : factors) result = multiply(result, atom->bounds);
    return result;
}

Interval bounds(const Polynomial& a) {
    Interval result{0, 0};
    for (const auto& term : a.terms) {
        result = add(result, multiply({term.coefficient, term.coefficient}, bounds(term.factors)));
    }
    return result;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) throw SizeOverflow{};
    return result;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) throw SizeOverflow{};
    return result;
}

std::int64_t checked_floordiv(std::int64_t a, std::int64_t b) {
    if (b == -1) return checked_multiply(a, -1);
    const std::int64_t rounded = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? rounded - 1 : rounded;
}

}  // namespace cairn::inline v0::detail
