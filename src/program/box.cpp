#include "program/box.hpp"

#include <algorithm>

namespace cairn::program {
namespace {

using detail::Atom;
using detail::AtomKind;
using detail::Monomial;
using detail::Term;

Interval times(Interval a, std::int64_t factor) { return multiply(a, {factor, factor}); }

Interval difference(Interval a, Interval b) { return add(a, {-b.high, -b.low}); }

Interval bounds_of(const Atom& atom, const Box& box) {
    if (atom.kind == AtomKind::symbol) return {box.ranges[atom.index].low, box.ranges[atom.index].high};
    Interval result = bounds_over(atom.args[0], box);
    for (std::size_t i = 1; i < atom.args.size(); ++i) {
        const Interval next = bounds_over(atom.args[i], box);
        switch (atom.kind) {
            case AtomKind::min: result = interval_min(result, next); break;
            case AtomKind::max: result = interval_max(result, next); break;
            case AtomKind::floordiv: result = quotient_bounds(result, next); break;
            default: result = remainder_bounds(result, next);
        }
    }
    return result;
}

bool depends_on(const Polynomial& size, std::size_t symbol);

bool depends_on(const Atom& atom, std::size_t symbol) {
    if (atom.kind == AtomKind::symbol) return atom.index == symbol;
    return std::any_of(atom.args.begin(), atom.args.end(),
                       [&](const Polynomial& argument) { return depends_on(argument, symbol); });
}

bool depends_on(const Polynomial& size, std::size_t symbol) {
    return std::any_of(size.terms.begin(), size.terms.end(), [&](const Term& term) {
        return std::any_of(term.factors.begin(), term.factors.end(),
                           [&](const Atom* atom) { return depends_on(*atom, symbol); });
    });
}

Interval step_of(const Atom& atom, std::size_t symbol, const Box& box) {
    if (!depends_on(atom, symbol)) return {0, 0};
    if (atom.kind == AtomKind::symbol) return {1, 1};
    const Interval first = forward_difference_over(atom.args[0], symbol, box);
    if (atom.kind == AtomKind::min || atom.kind == AtomKind::max) {
        // The difference of a min or max lies in the hull of its arguments' differences.
        Interval hull = first;
        for (std::size_t i = 1; i < atom.args.size(); ++i) {
            const Interval next = forward_difference_over(atom.args[i], symbol, box);
            hull = {std::min(hull.low, next.low), std::max(hull.high, next.high)};
        }
        return hull;
    }
    if (atom.kind == AtomKind::floordiv && atom.args[1].is_constant() && atom.args[1].constant_term() > 0) {
        const Interval divisor{atom.args[1].constant_term(), atom.args[1].constant_term()};
        const Interval rounding{0, divisor.low - 1};
        return quotient_bounds(add(first, rounding), divisor);
    }
    const Interval all = bounds_of(atom, box);
    return difference(all, all);
}

/// Difference of a product, as a telescoping sum: one factor at a time takes the step, those before it have not yet,
/// those after it have.
Interval step_of(const Monomial& factors, std::size_t symbol, const Box& box) {
    Interval sum{0, 0};
    for (std::size_t k = 0; k < factors.size(); ++k) {
        Interval product = step_of(*factors[k], symbol, box);
        for (std::size_t i = 0; i < factors.size() && !(product.low == 0 && product.high == 0); ++i)
            if (i != k) product = multiply(product, bounds_of(*factors[i], box));
        sum = add(sum, product);
    }
    return sum;
}

}  // namespace

Box::Box(const Symbols& symbols) {
    for (const Symbols::Symbol& symbol : symbols.list()) ranges.push_back({symbol.low, symbol.high});
}

bool Box::is_point() const noexcept {
    return std::all_of(ranges.begin(), ranges.end(), [](const Range& range) { return range.is_point(); });
}

std::vector<std::int64_t> Box::low() const {
    std::vector<std::int64_t> values;
    for (const Range& range : ranges) values.push_back(range.low);
    return values;
}

Interval bounds_over(const Polynomial& size, const Box& box) {
    Interval sum{0, 0};
    for (const Term& term : size.terms) {
        Interval product{1, 1};
        for (const Atom* atom : term.factors) product = multiply(product, bounds_of(*atom, box));
        sum = add(sum, times(product, term.coefficient));
    }
    return sum;
}

Interval forward_difference_over(const Polynomial& size, std::size_t symbol, const Box& box) {
    Interval sum{0, 0};
    for (const Term& term : size.terms) sum = add(sum, times(step_of(term.factors, symbol, box), term.coefficient));
    return sum;
}

bool is_convex(const Polynomial& size, std::size_t symbol, const Box& box) {
    for (const Term& term : size.terms) {
        int power = 0;
        Interval rest{term.coefficient, term.coefficient};
        for (const Atom* atom : term.factors) {
            if (atom->kind == AtomKind::symbol && atom->index == symbol)
                ++power;
            else if (depends_on(*atom, symbol))
                return false;
            else
                rest = multiply(rest, bounds_of(*atom, box));
        }
        // Symbols are nonnegative, so their powers are convex.
        if (power > 1 && rest.low < 0) return false;
    }
    return true;
}

}  // namespace cairn::program
