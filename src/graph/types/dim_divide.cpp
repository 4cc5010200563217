#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "graph/types/dim_inequality.hpp"
#include "graph/types/dim_table.hpp"
#include "graph/types/polynomial_division.hpp"

namespace cairn::inline v0 {

namespace detail {

namespace {

Polynomial constant(std::int64_t value) { return Polynomial::constant(value); }

bool without_factors(const Monomial& whole, const Monomial& part, Monomial& rest) {
    rest = whole;
    for (const auto* atom : part) {
        const auto it = std::find(rest.begin(), rest.end(), atom);
        if (it == rest.end()) return false;
        rest.erase(it);
    }
    return true;
}

}  // namespace

Division divide(Polynomial a, const Polynomial& b) {
    Division result;
    const Term lead = b.terms.back();
    std::vector<Term> remainder;
    while (!a.is_zero()) {
        const Term top = a.terms.back();
        Term factor;
        if (without_factors(top.factors, lead.factors, factor.factors)) {
            factor.coefficient = checked_floordiv(top.coefficient, lead.coefficient);
            if (factor.coefficient != 0) {
                const Polynomial part{{factor}};
                result.quotient = add(result.quotient, part);
                a = subtract(a, multiply(part, b));
            }
        }
        if (!a.is_zero() && a.terms.back().factors == top.factors) {
            remainder.push_back(a.terms.back());
            a.terms.pop_back();
        }
    }
    std::reverse(remainder.begin(), remainder.end());
    result.remainder.terms = std::move(remainder);
    return result;
}

namespace {

std::uint64_t magnitude(std::int64_t value) {
    return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// The greatest number and monomial that divide every term of both.
Term content(const Polynomial& a, const Polynomial& b) {
    std::uint64_t number = 0;
    Monomial common = b.terms.back().factors;
    for (const auto* polynomial : {&a, &b}) {
        for (const auto& term : polynomial->terms) {
            number = std::gcd(number, magnitude(term.coefficient));
            Monomial left = term.factors, kept;
            for (const auto* atom : common) {
                const auto it = std::find(left.begin(), left.end(), atom);
                if (it == left.end()) continue;
                left.erase(it);
                kept.push_back(atom);
            }
            common = std::move(kept);
        }
    }
    if (number > static_cast<std::uint64_t>(INT64_MAX)) number = 1;
    return {static_cast<std::int64_t>(number), std::move(common)};
}

Polynomial without_content(Polynomial a, const Term& content) {
    for (auto& term : a.terms) {
        term.coefficient /= content.coefficient;
        Monomial rest;
        without_factors(term.factors, content.factors, rest);
        term.factors = std::move(rest);
    }
    return a;
}

std::int64_t gcd_of_symbolic(const Polynomial& a, std::int64_t start) {
    std::uint64_t result = magnitude(start);
    for (const auto& term : a.terms) {
        if (!term.factors.empty()) result = std::gcd(result, magnitude(term.coefficient));
    }
    return static_cast<std::int64_t>(result);
}

// floor(a / b) = quotient + floor(numerator / divisor), and a mod b = offset + scale * (numerator mod divisor), with
// nothing left to simplify by algebra. `divisor` is 1 when no function is left.
struct Reduced {
    Polynomial numerator, divisor, quotient, scale, offset;
};

// Cancels a constant that the divisor and the symbolic terms share: floor((4*N + 3) / 8) = floor(N / 2),
// (4*N + 3) mod 8 = 4 * (N mod 2) + 3.
bool cancel_constant(Reduced& r) {
    const std::int64_t divisor = r.divisor.constant_term(), shared = gcd_of_symbolic(r.numerator, divisor);
    if (shared <= 1) return false;
    const std::int64_t alone = r.numerator.constant_term(), lifted = checked_floordiv(alone, shared);
    r.offset = add(r.offset, scale(r.scale, alone - lifted * shared));
    r.numerator = without_content(subtract(r.numerator, constant(alone)), {shared, {}});
    r.numerator = add(r.numerator, constant(lifted));
    r.scale = scale(r.scale, shared);
    r.divisor = constant(divisor / shared);
    return true;
}

bool cancel_content(Reduced& r) {
    const Term shared = content(r.numerator, r.divisor);
    if (shared.coefficient <= 1 && shared.factors.empty()) return false;
    r.numerator = without_content(r.numerator, shared);
    r.divisor = without_content(r.divisor, shared);
    r.scale = multiply(r.scale, {{shared}});
    return true;
}

Reduced reduce(Polynomial a, Polynomial b) {
    Reduced r{std::move(a), std::move(b), {}, constant(1), {}};
    for (bool changed = true; changed && !r.numerator.is_zero();) {
        if (bounds(r.divisor).high < 0) {
            r.numerator = scale(r.numerator, -1);
            r.divisor = scale(r.divisor, -1);
            r.scale = scale(r.scale, -1);
        }
        Division division = divide(r.numerator, r.divisor);
        r.quotient = add(r.quotient, division.quotient);
        r.numerator = std::move(division.remainder);
        if (r.numerator.is_zero()) break;
        changed = r.divisor.is_constant() ? cancel_constant(r) : cancel_content(r);
    }
    return r;
}

// True, with the value of floor(numerator / divisor), if the bounds leave only one value.
bool single_quotient(const Reduced& r, std::int64_t& value) {
    if (r.numerator.is_zero()) {
        value = 0;
        return true;
    }
    const Interval range = quotient_bounds(bounds(r.numerator), bounds(r.divisor));
    value = to_int64(range.low);
    if (range.low == range.high && Wide(value) == range.low) return true;
    value = 0;
    return bounds(r.divisor).low > 0 && provably_nonnegative(r.numerator) &&
           provably_nonnegative(subtract(subtract(r.divisor, constant(1)), r.numerator));
}

// floor((floor(p / e) + k) / d) = floor((p + k * e) / (d * e)) for constants d, e > 0.
bool flatten_nested_floordiv(Reduced& r) {
    if (!r.divisor.is_constant()) return false;
    const auto& terms = r.numerator.terms;
    if (terms.size() > 2 || (terms.size() == 2 && !terms[0].factors.empty())) return false;
    const Term& top = terms.back();
    if (top.coefficient != 1 || top.factors.size() != 1) return false;
    const Atom& inner = *top.factors[0];
    if (inner.kind != AtomKind::floordiv || !inner.args[1].is_constant()) return false;
    const std::int64_t step = inner.args[1].constant_term();
    std::int64_t divisor = 0, lift = 0;
    if (__builtin_mul_overflow(step, r.divisor.constant_term(), &divisor) ||
        __builtin_mul_overflow(step, r.numerator.constant_term(), &lift)) {
        return false;
    }
    r.numerator = add(inner.args[0], constant(lift));
    r.divisor = constant(divisor);
    return true;
}

Polynomial quotient(DimTable& table, const Polynomial& a, const Polynomial& b) {
    Polynomial whole;
    Reduced r{a, b, {}, {}, {}};
    do {
        r = reduce(r.numerator, r.divisor);
        whole = add(whole, r.quotient);
        std::int64_t value = 0;
        if (single_quotient(r, value)) return add(whole, constant(value));
    } while (flatten_nested_floordiv(r));
    return add(whole, Polynomial::atom(table.function(AtomKind::floordiv, {r.numerator, r.divisor})));
}

Polynomial remainder(DimTable& table, const Polynomial& a, const Polynomial& b) {
    const Reduced r = reduce(a, b);
    std::int64_t value = 0;
    Polynomial rest;
    if (single_quotient(r, value)) {
        rest = subtract(r.numerator, scale(r.divisor, value));
    } else {
        rest = Polynomial::atom(table.function(AtomKind::mod, {r.numerator, r.divisor}));
    }
    return add(r.offset, multiply(r.scale, rest));
}

void check_divisor(std::string_view operation, const Dim& a, const Dim& b) {
    if (!(b == Dim(0))) return;
    throw Error(ErrorKind::graph, "size", std::string(operation) + "(" + to_string(a) + ", 0) divides by zero");
}

using Rule = Polynomial (*)(DimTable&, const Polynomial&, const Polynomial&);

Dim apply(std::string_view operation, const Dim& a, const Dim& b, Rule rule) {
    check_divisor(operation, a, b);
    return without_overflow(operation, a, b, [&]() -> Dim {
        const auto table = DimTable::shared(a, b);
        return DimTable::dim(*table, rule(DimTable::of(*table), DimTable::polynomial(a), DimTable::polynomial(b)));
    });
}

}  // namespace

}  // namespace detail

Dim floordiv(const Dim& a, const Dim& b) {
    if (!a.is_constant() || !b.is_constant()) return detail::apply("floordiv", a, b, detail::quotient);
    detail::check_divisor("floordiv", a, b);
    return detail::without_overflow("floordiv", a, b,
                                    [&]() -> Dim { return detail::checked_floordiv(a.constant(), b.constant()); });
}

Dim ceildiv(const Dim& a, const Dim& b) {
    detail::check_divisor("ceildiv", a, b);
    if (a.is_constant() && b.is_constant() && b.constant() > 0) {
        const std::int64_t whole = floordiv(a, b).constant();
        return whole + (whole * b.constant() != a.constant() ? 1 : 0);
    }
    if (b.lower_bound() > 0) return floordiv(a + (b - 1), b);
    return 0 - floordiv(0 - a, b);
}

Dim mod(const Dim& a, const Dim& b) {
    if (!a.is_constant() || !b.is_constant()) return detail::apply("mod", a, b, detail::remainder);
    detail::check_divisor("mod", a, b);
    if (b.constant() == -1) return 0;
    return a.constant() - b.constant() * detail::checked_floordiv(a.constant(), b.constant());
}

}  // namespace cairn::inline v0
