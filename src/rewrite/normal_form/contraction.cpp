#include "rewrite/normal_form/normalizer.hpp"

#include "graph/ir/infer.hpp"

#include <algorithm>
#include <cmath>

// Sums along axes and products of matrices: factors that do not vary along the summed axis are moved outside.
namespace cairn::normal_form {
namespace {

using ir::Op;

bool varies_along(const Shape& shape, const Dim& axis) {
    const std::int64_t from_end = -axis.constant();
    const auto rank = static_cast<std::int64_t>(shape.size());
    return from_end <= rank && !(shape[static_cast<std::size_t>(rank - from_end)] == Dim(1));
}

}  // namespace

// Removes from `value` its coefficient and, if other factors are left, the factors that vary along none of `axes`;
// returns them.
ScaledTerm Normalizer::take_constant_along(std::span<const Dim> axes, ScaledTerm& value) {
    const DType dtype = terms_[value.core].dtype;
    if (!laws_.has(Law::distributed)) return {1, one(dtype)};
    const std::span<const ScaledTerm> powers = powers_of(value.core);
    std::vector<ScaledTerm> inside(powers.begin(), powers.end()), outside;
    const auto middle = std::stable_partition(inside.begin(), inside.end(), [&](const ScaledTerm& power) {
        const Shape& shape = *terms_[power.core].shape;
        return std::any_of(axes.begin(), axes.end(), [&](const Dim& axis) { return varies_along(shape, axis); });
    });
    outside.assign(middle, inside.end());
    inside.erase(middle, inside.end());
    const double factor = std::exchange(value.factor, 1);
    if (outside.empty() || inside.empty()) return {factor, one(dtype)};
    value.core = product(inside, dtype);
    return {factor, product(outside, dtype)};
}

// sum(f x) = f sum(x).
ScaledTerm Normalizer::summed(const Attributes& attributes, ScaledTerm x) {
    const std::vector<Dim>& axes = attributes.dims("axes");
    const ScaledTerm outside = take_constant_along(axes, x);
    Shape shape = *terms_[x.core].shape;
    for (const Dim& axis : axes)
        if (varies_along(shape, axis)) shape[shape.size() - static_cast<std::size_t>(-axis.constant())] = 1;
    const ScaledTerm sum{1, op_term(Op::sum, terms_[x.core].dtype, trimmed_shape(shape), {x}, &attributes)};
    return multiply(outside, sum);
}

/// True for terms that depend on weights and constants only.
bool Normalizer::is_bound(TermId core) {
    while (bound_.size() <= core) {
        const Term& term = terms_[static_cast<TermId>(bound_.size())];
        bound_.push_back(term.kind == TermKind::leaf
                             ? term.op == Op::weight || term.op == Op::constant
                             : std::all_of(term.parts.begin(), term.parts.end(),
                                           [&](const ScaledTerm& p) { return bound_[p.core]; }));
    }
    return bound_[core];
}

bool Normalizer::is_bound_row(TermId core) { return terms_[core].shape->size() == 1 && is_bound(core); }

// (a g) b = a (g^T b) for a bound row g: the factor is then multiplied once, into the bound operand.
void Normalizer::move_factors_to_bound_side(ScaledTerm& a, ScaledTerm& b) {
    const DType dtype = terms_[a.core].dtype;
    const std::span<const ScaledTerm> powers = powers_of(a.core);
    std::vector<ScaledTerm> rest, given;
    for (const ScaledTerm& power : powers) (is_bound_row(power.core) ? given : rest).push_back(power);
    if (given.empty() || std::all_of(rest.begin(), rest.end(), [&](const ScaledTerm& p) { return is_bound(p.core); }))
        return;
    a.core = product(rest, dtype);
    for (const ScaledTerm& row : given) {
        const Shape column{terms_[row.core].shape->back(), 1};
        const ScaledTerm turned = moved(row.core, {Op::reshape, terms_.keep(column), terms_.scalar()});
        b = multiply(b, power(turned, row.factor));
    }
}

// (a + r) b = a b + r b for a bound row r: r b is known before any input is given.
std::optional<ScaledTerm> Normalizer::with_bound_rows_apart(const ScaledTerm& a, const ScaledTerm& b) {
    const Term& sum = terms_[a.core];
    if (sum.kind != TermKind::sum) return std::nullopt;
    std::vector<ScaledTerm> rest, rows;
    for (const ScaledTerm& part : sum.parts)
        (is_bound_row(part.core) ? rows : rest).push_back({a.factor * part.factor, part.core});
    if (rows.empty() || std::all_of(rest.begin(), rest.end(), [&](const ScaledTerm& p) { return is_bound(p.core); }))
        return std::nullopt;
    const DType dtype = sum.dtype;
    return add({multiply_matrices(add(rest, dtype), b), multiply_two(add(rows, dtype), b)}, dtype);
}

// The terms of a sum of matrices if all of them have the summed axis, which is `back` places before the last; else `x`
// alone.
std::vector<ScaledTerm> Normalizer::terms_beside(const ScaledTerm& x, std::size_t back) {
    std::vector<ScaledTerm> terms;
    expand(x, terms);
    const Dim inner = from_end(*terms_[x.core].shape, back);
    const bool all_have = std::all_of(terms.begin(), terms.end(), [&](const ScaledTerm& term) {
        return terms_[term.core].kind != TermKind::one && from_end(*terms_[term.core].shape, back) == inner;
    });
    return all_have ? terms : std::vector{x};
}

// (a + b) (c + d) = a c + a d + b c + b d, for at most most_flattened_parts products.
std::optional<ScaledTerm> Normalizer::multiplied_out(const ScaledTerm& a, const ScaledTerm& b) {
    if (!laws_.has(Law::distributed) || !laws_.has(Law::reassociated)) return std::nullopt;
    const std::vector<ScaledTerm> left = terms_beside(a, 0), right = terms_beside(b, 1);
    const std::size_t count = left.size() * right.size();
    if (count < 2 || count > most_flattened_parts) return std::nullopt;
    std::vector<ScaledTerm> products;
    for (const ScaledTerm& x : left)
        for (const ScaledTerm& y : right) products.push_back(multiply_two(x, y));
    return add(products, terms_[a.core].dtype);
}

// concat(x, y) b = x slice(b) + y slice(b), for at most most_flattened_parts parts.
std::optional<ScaledTerm> Normalizer::parts_multiplied(const ScaledTerm& a, const ScaledTerm& b) {
    const Term& concat = terms_[a.core];
    if (!laws_.has(Law::reassociated) || concat.kind != TermKind::op || concat.op != Op::concat) return std::nullopt;
    if (concat.attributes->integer("axis") != -1 || concat.parts.size() > most_flattened_parts) return std::nullopt;
    const Shape& whole = *terms_[b.core].shape;
    if (whole.size() < 2 || whole[whole.size() - 2] == Dim(1)) return std::nullopt;
    std::vector<ScaledTerm> products;
    Dim begin = 0;
    for (const ScaledTerm& part : concat.parts) {
        Shape shape = whole;
        const Dim size = shape[shape.size() - 2] = from_end(*terms_[part.core].shape, 0);
        if (size == Dim(0)) return std::nullopt;
        const ScaledTerm rows = moved(b.core, {Op::slice, terms_.keep(trimmed(shape)), terms_.keep({-2, begin, 1})});
        products.push_back(multiply_two({a.factor * part.factor, part.core}, {b.factor * rows.factor, rows.core}));
        begin = begin + size;
    }
    return add(products, concat.dtype);
}

ScaledTerm Normalizer::multiply_matrices(ScaledTerm a, ScaledTerm b) {
    if (const auto sum = parts_multiplied(a, b)) return *sum;
    const auto products = multiplied_out(a, b);
    return products ? *products : multiply_two(a, b);
}

ScaledTerm Normalizer::multiply_two(ScaledTerm a, ScaledTerm b) {
    if (laws_.has(Law::distributed) && is_bound(b.core)) {
        move_factors_to_bound_side(a, b);
        if (const auto apart = with_bound_rows_apart(a, b)) return *apart;
    }
    return laws_.has(Law::reassociated) ? reassociated_chain(a, b) : product_of_matrices(a, b);
}

// The factors of a chain of products, which is nested as a (b (c d)). A longer chain is one factor of a larger chain.
std::vector<ScaledTerm> Normalizer::chain_factors(const ScaledTerm& x) const {
    std::vector<ScaledTerm> chain;
    ScaledTerm rest = x;
    while (is_product(terms_[rest.core]) && rest.factor == 1 && chain.size() < most_flattened_parts) {
        const Term& term = terms_[rest.core];
        chain.push_back(term.parts[0]);
        rest = term.parts[1];
    }
    chain.push_back(rest);
    return chain.size() <= most_flattened_parts ? chain : std::vector{x};
}

// (a b) c = a (b c).
ScaledTerm Normalizer::reassociated_chain(ScaledTerm a, ScaledTerm b) {
    const Dim last = -1, before = -2;
    const ScaledTerm left = take_constant_along({&last, 1}, a), right = take_constant_along({&before, 1}, b);
    std::vector<ScaledTerm> chain = chain_factors(a);
    const std::vector<ScaledTerm> others = chain_factors(b);
    chain.insert(chain.end(), others.begin(), others.end());
    ScaledTerm result = chain.back();
    for (std::size_t i = chain.size() - 1; i-- > 0;) result = product_of_matrices(chain[i], result);
    return multiply(multiply(left, right), result);
}

// (f a) (b g) = f (a b) g, with a column f and a row g.
ScaledTerm Normalizer::product_of_matrices(ScaledTerm a, ScaledTerm b) {
    const DType dtype = terms_[a.core].dtype;
    const Dim last = -1, before = -2;
    const ScaledTerm left = take_constant_along({&last, 1}, a), right = take_constant_along({&before, 1}, b);
    const Shape &x = *terms_[a.core].shape, &y = *terms_[b.core].shape;
    const auto without = [](const Shape& shape, std::size_t count) {
        return Shape(shape.begin(),
                     shape.size() > count ? shape.end() - static_cast<std::ptrdiff_t>(count) : shape.begin());
    };
    Shape shape = *ir::broadcast_shapes(without(x, 2), without(y, 2));
    shape.push_back(x.size() > 1 ? x[x.size() - 2] : Dim(1));
    shape.push_back(y.empty() ? Dim(1) : y.back());
    const ScaledTerm product{1, op_term(Op::matmul, dtype, trimmed_shape(shape), {a, b})};
    return multiply(multiply(left, right), product);
}

}  // namespace cairn::normal_form
