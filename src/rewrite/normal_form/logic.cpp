#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

// Comparisons, logic, choices and maxima.
namespace cairn::normal_form {
namespace {

using ir::Op;

ScaledTerm compared(Normalizer& n, Op op, const ScaledTerm& a, const ScaledTerm& b) {
    return n.apply(op, DType::boolean, {a, b});
}

ScaledTerm conjunction(Normalizer& n, const ScaledTerm& a, const ScaledTerm& b) {
    return n.apply(Op::logical_and, DType::boolean, {a, b});
}

ScaledTerm choice(Normalizer& n, const ScaledTerm& condition, const ScaledTerm& a, const ScaledTerm& b, DType dtype) {
    return n.apply(Op::where, dtype, {condition, a, b});
}

}  // namespace

std::optional<ScaledTerm> scaled_maximum(Normalizer& n, const Operation& max) {
    ScaledTerm a = max.operands[0], b = max.operands[1];
    double scale = std::max(std::fabs(a.factor), std::fabs(b.factor));
    // A limit like 6 in max(x, 6) is not scaled.
    if (n.term(a.core).kind == TermKind::one && a.factor != 0) scale = std::fabs(b.factor);
    if (n.term(b.core).kind == TermKind::one && b.factor != 0) scale = std::fabs(a.factor);
    if (!std::isnormal(scale)) scale = 1;
    a.factor /= scale;
    b.factor /= scale;
    return ScaledTerm{scale, n.op_term(Op::max, max.dtype, n.joint_shape(std::array{a, b}), {a, b})};
}

std::optional<ScaledTerm> minimum(Normalizer& n, const Operation& min) {
    return negated(n.apply(Op::max, min.dtype, {negated(min.operands[0]), negated(min.operands[1])}));
}

std::optional<ScaledTerm> unequal(Normalizer& n, const Operation& ne) {
    return negated(compared(n, Op::eq, ne.operands[0], ne.operands[1]));
}

std::optional<ScaledTerm> greater_or_equal(Normalizer& n, const Operation& ge) {
    return compared(n, Op::le, ge.operands[1], ge.operands[0]);
}

std::optional<ScaledTerm> greater(Normalizer& n, const Operation& gt) {
    return compared(n, Op::lt, gt.operands[1], gt.operands[0]);
}

std::optional<ScaledTerm> less(Normalizer& n, const Operation& lt) {
    return negated(compared(n, Op::le, lt.operands[1], lt.operands[0]));
}

std::optional<ScaledTerm> negation(Normalizer&, const Operation& logical_not) {
    return negated(logical_not.operands[0]);
}

std::optional<ScaledTerm> disjunction(Normalizer& n, const Operation& logical_or) {
    return negated(conjunction(n, negated(logical_or.operands[0]), negated(logical_or.operands[1])));
}

std::optional<ScaledTerm> flat_conjunction(Normalizer& n, const Operation& logical_and) {
    std::vector<ScaledTerm> parts;
    for (const ScaledTerm& part : logical_and.operands) {
        const Term& term = n.term(part.core);
        if (part.factor > 0 && term.kind == TermKind::op && term.op == Op::logical_and &&
            term.parts.size() <= max_flattened_parts)
            parts.insert(parts.end(), term.parts.begin(), term.parts.end());
        else
            parts.push_back(part);
    }
    std::sort(parts.begin(), parts.end(), by_core);
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    if (parts.size() == 1) return parts[0];
    return ScaledTerm{1, n.op_term(Op::logical_and, DType::boolean, n.joint_shape(parts), parts)};
}

// where(x > 0, x, 0) is not the maximum: it makes 0 of NaN.
std::optional<ScaledTerm> choice_by_sign(Normalizer& n, const Operation& where) {
    const ScaledTerm &condition = where.operands[0], &a = where.operands[1], &b = where.operands[2];
    const Term& test = n.term(condition.core);
    if (condition.factor != 1 || test.kind != TermKind::op || (test.op != Op::lt && test.op != Op::le))
        return std::nullopt;
    if (test.parts.size() != 2 || !n.is_constant(a, 0)) return std::nullopt;
    if (!n.same(test.parts[0], b) || !n.is_constant(test.parts[1], 0)) return std::nullopt;
    return n.apply(Op::max, where.dtype, {a, b});
}

std::optional<ScaledTerm> negated_choice(Normalizer& n, const Operation& where) {
    const ScaledTerm &condition = where.operands[0], &a = where.operands[1], &b = where.operands[2];
    if (condition.factor >= 0) return std::nullopt;
    const std::array swapped{negated(condition), b, a};
    const Operation other{where.op, where.dtype, swapped, where.attributes};
    if (const auto nested = nested_choice(n, other)) return nested;
    return ScaledTerm{1, n.op_term(Op::where, where.dtype, n.joint_shape(swapped), swapped)};
}

std::optional<ScaledTerm> nested_choice(Normalizer& n, const Operation& where) {
    const ScaledTerm &condition = where.operands[0], &a = where.operands[1], &b = where.operands[2];
    const auto nested = [&](const ScaledTerm& value) -> const Term* {
        const Term& term = n.term(value.core);
        return value.factor == 1 && term.kind == TermKind::op && term.op == Op::where ? &term : nullptr;
    };
    const auto choose = [&](const ScaledTerm& first, const ScaledTerm& second, const ScaledTerm& x,
                            const ScaledTerm& y) {
        return choice(n, conjunction(n, first, second), x, y, where.dtype);
    };
    if (const Term* inner = nested(a)) {
        const std::span<const ScaledTerm> parts = inner->parts;
        if (n.same(parts[2], b)) return choose(condition, parts[0], parts[1], b);
        if (n.same(parts[1], b)) return choose(condition, negated(parts[0]), parts[2], b);
    }
    if (const Term* inner = nested(b)) {
        const std::span<const ScaledTerm> parts = inner->parts;
        if (n.same(parts[1], a)) return choose(negated(condition), negated(parts[0]), parts[2], a);
        if (n.same(parts[2], a)) return choose(negated(condition), parts[0], parts[1], a);
    }
    return std::nullopt;
}

}  // namespace cairn::normal_form
