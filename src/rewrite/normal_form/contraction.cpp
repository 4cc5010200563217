#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include "graph/ir/infer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

// Sums along axes and products of matrices: factors that do not vary along the summed axis are moved outside.
namespace cairn::normal_form {
namespace {

using ir::Op;

bool varies_along(const Shape& shape, const Dim& axis) {
    const std::int64_t from_end = -axis.constant();
    const auto rank = static_cast<std::int64_t>(shape.size());
    return from_end <= rank && !(shape[static_cast<std::size_t>(rank - from_end)] == Dim(1));
}

// Removes from `value` its coefficient and, if other factors are left, the factors that vary along none of `axes`;
// returns them.
ScaledTerm extract_constant_along(Normalizer& n, std::span<const Dim> axes, ScaledTerm& value) {
    const DType dtype = n.term(value.core).dtype;
    if (!n.allows(Law::distributed)) return {1, n.one(dtype)};
    const std::span<const ScaledTerm> powers = n.powers_of(value.core);
    std::vector<ScaledTerm> inside(powers.begin(), powers.end()), outside;
    const auto middle = std::stable_partition(inside.begin(), inside.end(), [&](const ScaledTerm& power) {
        const Shape& shape = *n.term(power.core).shape;
        return std::any_of(axes.begin(), axes.end(), [&](const Dim& axis) { return varies_along(shape, axis); });
    });
    outside.assign(middle, inside.end());
    inside.erase(middle, inside.end());
    const double factor = std::exchange(value.factor, 1);
    if (outside.empty() || inside.empty()) return {factor, n.one(dtype)};
    value.core = n.product(inside, dtype);
    return {factor, n.product(outside, dtype)};
}

bool is_bound_row(Normalizer& n, TermId core) { return n.term(core).shape->size() == 1 && n.is_bound(core); }

bool are_bound(Normalizer& n, std::span<const ScaledTerm> parts) {
    return std::all_of(parts.begin(), parts.end(), [&](const ScaledTerm& part) { return n.is_bound(part.core); });
}

// The terms of a sum of matrices if all of them have the summed axis, which is `back` places before the last; else `x`
// alone.
std::vector<ScaledTerm> terms_with_axis(Normalizer& n, const ScaledTerm& x, std::size_t back) {
    std::vector<ScaledTerm> terms;
    n.append_terms(x, terms);
    const Dim inner = from_end(*n.term(x.core).shape, back);
    const bool all_have = std::all_of(terms.begin(), terms.end(), [&](const ScaledTerm& term) {
        return n.term(term.core).kind != TermKind::one && from_end(*n.term(term.core).shape, back) == inner;
    });
    return all_have ? terms : std::vector{x};
}

// The factors of a chain of products, which is nested as a (b (c d)). A longer chain is one factor of a larger chain.
std::vector<ScaledTerm> chain_factors(const Normalizer& n, const ScaledTerm& x) {
    std::vector<ScaledTerm> chain;
    ScaledTerm rest = x;
    while (is_product(n.term(rest.core)) && rest.factor == 1 && chain.size() < max_flattened_parts) {
        const Term& term = n.term(rest.core);
        chain.push_back(term.parts[0]);
        rest = term.parts[1];
    }
    chain.push_back(rest);
    return chain.size() <= max_flattened_parts ? chain : std::vector{x};
}

bool is_one(const Normalizer& n, const ScaledTerm& value) {
    return value.factor == 1 && n.term(value.core).kind == TermKind::one;
}

// One product, with the factors that it has.
ScaledTerm plain_product(Normalizer& n, const ScaledTerm& a, const ScaledTerm& b) {
    const Shape &x = *n.term(a.core).shape, &y = *n.term(b.core).shape;
    const auto without = [](const Shape& shape, std::size_t count) {
        return Shape(shape.begin(),
                     shape.size() > count ? shape.end() - static_cast<std::ptrdiff_t>(count) : shape.begin());
    };
    Shape shape = *ir::broadcast_shapes(without(x, 2), without(y, 2));
    shape.push_back(x.size() > 1 ? x[x.size() - 2] : Dim(1));
    shape.push_back(y.empty() ? Dim(1) : y.back());
    return {1, n.op_term(Op::matmul, n.term(a.core).dtype, n.trimmed_shape(shape), {a, b})};
}

}  // namespace

Shape reduced(Shape shape, const std::vector<Dim>& axes) {
    for (const Dim& axis : axes)
        if (varies_along(shape, axis)) shape[shape.size() - static_cast<std::size_t>(-axis.constant())] = 1;
    return trimmed(shape);
}

ScaledTerm Normalizer::multiply_matrices(ScaledTerm a, ScaledTerm b, MatrixStep step) {
    for (auto at = static_cast<std::size_t>(step); at <= static_cast<std::size_t>(MatrixStep::factors); ++at)
        for (const auto apply : table_->of_matrices(static_cast<MatrixStep>(at)))
            if (const auto form = apply(*this, a, b)) return *form;
    return plain_product(*this, a, b);
}

std::optional<ScaledTerm> factors_of_sum(Normalizer& n, const Operation& sum) {
    ScaledTerm x = sum.operands[0];
    const std::vector<Dim>& axes = sum.attributes->dims("axes");
    const ScaledTerm outside = extract_constant_along(n, axes, x);
    const Shape* shape = n.terms().keep(reduced(*n.term(x.core).shape, axes));
    const ScaledTerm inside{1, n.op_term(Op::sum, sum.dtype, shape, {x}, sum.attributes)};
    return is_one(n, outside) ? inside : n.multiply(outside, inside);
}

std::optional<ScaledTerm> factors_of_product(Normalizer& n, ScaledTerm& a, ScaledTerm& b) {
    const Dim last = -1, before = -2;
    const ScaledTerm left = extract_constant_along(n, {&last, 1}, a),
                     right = extract_constant_along(n, {&before, 1}, b);
    if (is_one(n, left) && is_one(n, right)) return std::nullopt;
    return n.multiply(n.multiply(left, right), plain_product(n, a, b));
}

// The factor is then multiplied once, into the bound operand.
std::optional<ScaledTerm> bound_factors(Normalizer& n, ScaledTerm& a, ScaledTerm& b) {
    if (!n.is_bound(b.core)) return std::nullopt;
    const DType dtype = n.term(a.core).dtype;
    std::vector<ScaledTerm> rest, given;
    for (const ScaledTerm& power : n.powers_of(a.core)) (is_bound_row(n, power.core) ? given : rest).push_back(power);
    if (given.empty() || are_bound(n, rest)) return std::nullopt;
    a.core = n.product(rest, dtype);
    for (const ScaledTerm& row : given) {
        const Shape column{n.term(row.core).shape->back(), 1};
        const ScaledTerm reshaped = n.moved(row.core, {Op::reshape, n.terms().keep(column), n.terms().scalar()});
        b = n.multiply(b, n.power(reshaped, row.factor));
    }
    return std::nullopt;
}

// r b is known before any input is given.
std::optional<ScaledTerm> bound_terms(Normalizer& n, ScaledTerm& a, ScaledTerm& b) {
    const Term& sum = n.term(a.core);
    if (sum.kind != TermKind::sum || !n.is_bound(b.core)) return std::nullopt;
    std::vector<ScaledTerm> rest, rows;
    for (const ScaledTerm& part : sum.parts)
        (is_bound_row(n, part.core) ? rows : rest).push_back({a.factor * part.factor, part.core});
    if (rows.empty() || are_bound(n, rest)) return std::nullopt;
    const DType dtype = sum.dtype;
    return n.add(
        {n.multiply_matrices(n.add(rest, dtype), b), n.multiply_matrices(n.add(rows, dtype), b, MatrixStep::chains)},
        dtype);
}

// For at most max_flattened_parts products.
std::optional<ScaledTerm> product_of_sums(Normalizer& n, ScaledTerm& a, ScaledTerm& b) {
    const std::vector<ScaledTerm> left = terms_with_axis(n, a, 0), right = terms_with_axis(n, b, 1);
    const std::size_t count = left.size() * right.size();
    if (count < 2 || count > max_flattened_parts) return std::nullopt;
    std::vector<ScaledTerm> products;
    for (const ScaledTerm& x : left)
        for (const ScaledTerm& y : right) products.push_back(n.multiply_matrices(x, y, MatrixStep::chains));
    return n.add(products, n.term(a.core).dtype);
}

// For at most max_flattened_parts parts.
std::optional<ScaledTerm> product_of_concat(Normalizer& n, ScaledTerm& a, ScaledTerm& b) {
    const Term& concat = n.term(a.core);
    if (concat.kind != TermKind::op || concat.op != Op::concat) return std::nullopt;
    if (concat.attributes->integer("axis") != -1 || concat.parts.size() > max_flattened_parts) return std::nullopt;
    const Shape& whole = *n.term(b.core).shape;
    if (whole.size() < 2 || whole[whole.size() - 2] == Dim(1)) return std::nullopt;
    std::vector<ScaledTerm> products;
    Dim begin = 0;
    for (const ScaledTerm& part : concat.parts) {
        Shape shape = whole;
        const Dim size = shape[shape.size() - 2] = from_end(*n.term(part.core).shape, 0);
        if (size == Dim(0)) return std::nullopt;
        const ScaledTerm rows =
            n.moved(b.core, {Op::slice, n.terms().keep(trimmed(shape)), n.terms().keep({-2, begin, 1})});
        products.push_back(n.multiply_matrices({a.factor * part.factor, part.core}, {b.factor * rows.factor, rows.core},
                                               MatrixStep::chains));
        begin = begin + size;
    }
    return n.add(products, concat.dtype);
}

std::optional<ScaledTerm> chain_of_products(Normalizer& n, ScaledTerm& a, ScaledTerm& b) {
    const Dim last = -1, before = -2;
    const ScaledTerm left = extract_constant_along(n, {&last, 1}, a),
                     right = extract_constant_along(n, {&before, 1}, b);
    std::vector<ScaledTerm> chain = chain_factors(n, a);
    const std::vector<ScaledTerm> others = chain_factors(n, b);
    chain.insert(chain.end(), others.begin(), others.end());
    ScaledTerm result = chain.back();
    for (std::size_t i = chain.size() - 1; i-- > 0;)
        result = n.multiply_matrices(chain[i], result, MatrixStep::factors);
    return n.multiply(n.multiply(left, right), result);
}

}  // namespace cairn::normal_form
