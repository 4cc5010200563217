#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::normal_form {

using ir::Op;

bool Normalizer::is_constant(const ScaledTerm& value, double number) const {
    return terms_[value.core].kind == TermKind::one && close(value.factor, number, terms_[value.core].dtype);
}

// max(c a, c b) = c max(a, b) for c > 0.
ScaledTerm Normalizer::maximum(ScaledTerm a, ScaledTerm b, DType dtype) {
    double scale = is_float(dtype) ? std::max(std::fabs(a.factor), std::fabs(b.factor)) : 1;
    // A limit like 6 in max(x, 6) is not scaled.
    if (terms_[a.core].kind == TermKind::one && a.factor != 0) scale = std::fabs(b.factor);
    if (terms_[b.core].kind == TermKind::one && b.factor != 0) scale = std::fabs(a.factor);
    if (!std::isnormal(scale)) scale = 1;
    a.factor /= scale;
    b.factor /= scale;
    return {scale, op_term(Op::max, dtype, joint_shape({a, b}), {a, b})};
}

// Comparisons are expressed by le, lt and eq; the others are these, swapped or negated. For floats a < b is not the
// negation of b <= a: both are false for NaN.
ScaledTerm Normalizer::compare(Op op, const ScaledTerm& a, const ScaledTerm& b) {
    const bool whole = !is_float(terms_[a.core].dtype);
    const auto make = [&](Op kind, const ScaledTerm& x, const ScaledTerm& y) {
        return ScaledTerm{1, op_term(kind, DType::boolean, joint_shape({x, y}), {x, y})};
    };
    if (op == Op::ne) return negated(make(Op::eq, a, b));
    if (op == Op::ge) return compare(Op::le, b, a);
    if (op == Op::gt) return compare(Op::lt, b, a);
    if (op == Op::lt && whole) return negated(compare(Op::le, b, a));
    if (op == Op::le && whole) return compare_integers(a, b);
    return make(op, a, b);
}

ScaledTerm Normalizer::compare_integers(const ScaledTerm& low, const ScaledTerm& high) {
    if (const auto counted = compare_positions(low, high)) return *counted;
    return {1, op_term(Op::le, DType::boolean, joint_shape({low, high}), {low, high})};
}

ScaledTerm Normalizer::conjunction(std::vector<ScaledTerm> given) {
    std::vector<ScaledTerm> parts;
    for (const ScaledTerm& part : given) {
        const Term& term = terms_[part.core];
        if (part.factor > 0 && term.kind == TermKind::op && term.op == Op::logical_and &&
            term.parts.size() <= most_flattened_parts)
            parts.insert(parts.end(), term.parts.begin(), term.parts.end());
        else
            parts.push_back(part);
    }
    const auto equal = [](const ScaledTerm& a, const ScaledTerm& b) {
        return a.core == b.core && a.factor == b.factor;
    };
    std::sort(parts.begin(), parts.end(), by_core);
    parts.erase(std::unique(parts.begin(), parts.end(), equal), parts.end());
    if (parts.size() == 1) return parts[0];
    return {1, op_term(Op::logical_and, DType::boolean, joint_shape(parts), parts)};
}

// where(x < 0, 0, x) and where(x <= 0, 0, x) are max(x, 0), for NaN too; where(x > 0, x, 0) is not: it makes 0 of NaN.
std::optional<ScaledTerm> Normalizer::choose_by_comparison(const ScaledTerm& condition, const ScaledTerm& a,
                                                           const ScaledTerm& b, DType dtype) {
    const Term& test = terms_[condition.core];
    if (condition.factor != 1 || test.kind != TermKind::op || (test.op != Op::lt && test.op != Op::le))
        return std::nullopt;
    if (test.parts.size() != 2 || !is_float(dtype) || !is_constant(a, 0)) return std::nullopt;
    if (!same(test.parts[0], b) || !is_constant(test.parts[1], 0)) return std::nullopt;
    return maximum(a, b, dtype);
}

// Nested choices with a common branch are one choice: where(p, where(q, a, b), b) = where(p and q, a, b).
ScaledTerm Normalizer::choose(ScaledTerm condition, ScaledTerm a, ScaledTerm b, DType dtype) {
    if (const auto simple = choose_by_comparison(condition, a, b, dtype)) return *simple;
    if (condition.factor < 0) {
        condition.factor = 1;
        std::swap(a, b);
    }
    const auto nested = [&](const ScaledTerm& value) -> const Term* {
        const Term& term = terms_[value.core];
        return value.factor == 1 && term.kind == TermKind::op && term.op == Op::where ? &term : nullptr;
    };
    if (const Term* inner = nested(a)) {
        const std::span<const ScaledTerm> parts = inner->parts;
        if (same(parts[2], b)) return choose(conjunction({condition, parts[0]}), parts[1], b, dtype);
        if (same(parts[1], b)) return choose(conjunction({condition, negated(parts[0])}), parts[2], b, dtype);
    }
    if (const Term* inner = nested(b)) {
        const std::span<const ScaledTerm> parts = inner->parts;
        if (same(parts[1], a)) return choose(conjunction({negated(condition), negated(parts[0])}), parts[2], a, dtype);
        if (same(parts[2], a)) return choose(conjunction({negated(condition), parts[0]}), parts[1], a, dtype);
    }
    return {1, op_term(Op::where, dtype, joint_shape({condition, a, b}), {condition, a, b})};
}

}  // namespace cairn::normal_form
