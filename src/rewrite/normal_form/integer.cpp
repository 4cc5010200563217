#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace cairn::normal_form {
namespace {

using ir::Op;

// True for an integer that a double represents exactly, and no other integer with it.
bool is_exact(double value) { return std::trunc(value) == value && std::fabs(value) < 0x1p53; }

bool counts_positions(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

/// An affine integer expression: terms (such as iotas) with integer coefficients, plus a Dim.
struct Affine {
    std::vector<ScaledTerm> terms;
    Dim offset = 0;
};

bool all_exact(std::span<const ScaledTerm> terms) {
    return std::all_of(terms.begin(), terms.end(), [](const ScaledTerm& term) { return is_exact(term.factor); });
}

// Returns nothing if a Dim would exceed 64 bits. Integers wrap there, so such a sum stays an op.
template <typename F>
auto within_range(F work) -> decltype(work()) {
    try {
        return work();
    } catch (const InternalError&) { throw; } catch (const Error&) {
        return std::nullopt;
    }
}

void add_scaled(Affine& sum, const Affine& other, std::int64_t factor) {
    for (const ScaledTerm& term : other.terms) {
        const auto it =
            std::find_if(sum.terms.begin(), sum.terms.end(), [&](const ScaledTerm& t) { return t.core == term.core; });
        if (it != sum.terms.end())
            it->factor += term.factor * static_cast<double>(factor);
        else
            sum.terms.push_back({term.factor * static_cast<double>(factor), term.core});
    }
    sum.offset = sum.offset + other.offset * factor;
}

Affine affine(const Normalizer& n, const ScaledTerm& value) {
    const Term& term = n.term(value.core);
    const auto factor = static_cast<std::int64_t>(value.factor);
    if (term.kind == TermKind::one) return {{}, factor};
    if (term.kind == TermKind::sum && term.parts.size() <= max_flattened_parts) {
        Affine result;
        add_scaled(result, {{term.parts.begin(), term.parts.end()}, term.attributes->dims("offset")[0]}, factor);
        return result;
    }
    return {{value}, 0};
}

// The iota under a term's movement ops; null if there is none.
const Term* iota_under(const Normalizer& n, TermId core) {
    const Term* term = &n.term(core);
    while (term->kind == TermKind::op &&
           (term->op == Op::reshape || term->op == Op::transpose || term->op == Op::broadcast))
        term = &n.term(term->parts[0].core);
    return term->kind == TermKind::op && term->op == Op::iota ? term : nullptr;
}

bool is_iota_sum(const Normalizer& n, const Affine& sum) {
    return std::all_of(sum.terms.begin(), sum.terms.end(),
                       [&](const ScaledTerm& part) { return iota_under(n, part.core) != nullptr; });
}

// True if every element of a sum of iotas fits in i32.
bool is_narrow(const Normalizer& n, const Affine& sum) {
    Dim low = sum.offset, high = sum.offset;
    for (const ScaledTerm& part : sum.terms) {
        const auto factor = static_cast<std::int64_t>(part.factor);
        const Dim last = ((*iota_under(n, part.core)->shape)[0] - 1) * factor;
        (factor < 0 ? low : high) = (factor < 0 ? low : high) + last;
    }
    return provably_le(std::numeric_limits<std::int32_t>::min(), low) &&
           provably_le(high, std::numeric_limits<std::int32_t>::max());
}

TermId with_iota_dtype(Normalizer& n, TermId core, DType dtype) {
    Term term = n.term(core);
    if (term.dtype == dtype) return core;
    term.dtype = dtype;
    std::vector<ScaledTerm> parts(term.parts.begin(), term.parts.end());
    for (ScaledTerm& part : parts) part.core = with_iota_dtype(n, part.core, dtype);
    Attributes attributes = *term.attributes;
    for (Attribute& attribute : attributes)
        if (attribute.name == "dtype") attribute.value = std::vector<Dim>{static_cast<std::int64_t>(dtype)};
    term.parts = parts;
    term.attributes = &attributes;
    return n.terms().intern(term);
}

// Positions have the same values in i32 and i64.
std::optional<Affine> affine_in(Normalizer& n, DType dtype, const ScaledTerm& value) {
    if (!counts_positions(dtype) || !counts_positions(n.term(value.core).dtype) || !is_exact(value.factor))
        return std::nullopt;
    const bool narrow = dtype == DType::i32 || n.term(value.core).dtype == DType::i32;
    return within_range([&]() -> std::optional<Affine> {
        Affine sum = affine(n, value);
        if (!all_exact(sum.terms) || !is_iota_sum(n, sum) || (narrow && !is_narrow(n, sum))) return std::nullopt;
        for (ScaledTerm& term : sum.terms) term.core = with_iota_dtype(n, term.core, dtype);
        return sum;
    });
}

std::optional<ScaledTerm> compared_difference(Normalizer& n, Affine difference, const Affine& subtrahend) {
    add_scaled(difference, subtrahend, -1);
    if (!all_exact(difference.terms)) return std::nullopt;
    const auto first = std::min_element(difference.terms.begin(), difference.terms.end(),
                                        [](const ScaledTerm& a, const ScaledTerm& b) { return a.core < b.core; });
    double sign = 1;
    if (first->factor < 0) {
        Affine other;
        add_scaled(other, difference, -1);
        other.offset = other.offset - 1;
        difference = std::move(other);
        sign = -1;
    }
    const ScaledTerm zero{0, n.one(DType::i64)},
        value = integer_sum(n, std::move(difference.terms), difference.offset, DType::i64);
    return ScaledTerm{sign, n.op_term(Op::le, DType::boolean, n.joint_shape(std::array{zero, value}), {zero, value})};
}

// a x + b y.
std::optional<ScaledTerm> collected(Normalizer& n, DType dtype, const ScaledTerm& x, std::int64_t a,
                                    const ScaledTerm& y = {}, std::int64_t b = 0) {
    return within_range([&]() -> std::optional<ScaledTerm> {
        Affine sum;
        add_scaled(sum, affine(n, x), a);
        if (b != 0) add_scaled(sum, affine(n, y), b);
        if (!all_exact(sum.terms)) return std::nullopt;
        return integer_sum(n, std::move(sum.terms), sum.offset, dtype);
    });
}

// True for a number by which a sum may be multiplied.
bool is_multiplier(const Normalizer& n, const ScaledTerm& value) {
    return n.term(value.core).kind == TermKind::one && std::fabs(value.factor) < 0x1p20;
}

}  // namespace

// A constant that a double cannot represent exactly stays an offset.
ScaledTerm integer_sum(Normalizer& n, std::vector<ScaledTerm> terms, const Dim& offset, DType dtype) {
    std::sort(terms.begin(), terms.end(), [](const ScaledTerm& a, const ScaledTerm& b) { return a.core < b.core; });
    if (terms.empty() && offset.is_constant())
        if (const auto value = static_cast<double>(offset.constant()); is_exact(value)) return n.number(value, dtype);
    if (terms.size() == 1 && offset == Dim(0)) return terms[0];
    const Attributes attributes{{"offset", std::vector<Dim>{offset}}};
    Term term = n.terms().draft(TermKind::sum, dtype, n.joint_shape(terms));
    term.parts = terms;
    term.attributes = &attributes;
    return {1, n.terms().intern(term)};
}

std::optional<ScaledTerm> integer_sum_of_two(Normalizer& n, const Operation& add) {
    if (!all_exact(add.operands)) return std::nullopt;
    return collected(n, add.dtype, add.operands[0], 1, add.operands[1], 1);
}

std::optional<ScaledTerm> integer_difference(Normalizer& n, const Operation& sub) {
    if (!all_exact(sub.operands)) return std::nullopt;
    return collected(n, sub.dtype, sub.operands[0], 1, sub.operands[1], -1);
}

std::optional<ScaledTerm> integer_negative(Normalizer& n, const Operation& neg) {
    if (!all_exact(neg.operands)) return std::nullopt;
    return collected(n, neg.dtype, neg.operands[0], -1);
}

std::optional<ScaledTerm> integer_multiple(Normalizer& n, const Operation& mul) {
    const ScaledTerm &x = mul.operands[0], &y = mul.operands[1];
    if (!all_exact(mul.operands)) return std::nullopt;
    if (is_multiplier(n, y)) return collected(n, mul.dtype, x, static_cast<std::int64_t>(y.factor));
    if (is_multiplier(n, x)) return collected(n, mul.dtype, y, static_cast<std::int64_t>(x.factor));
    return std::nullopt;
}

std::optional<ScaledTerm> cast_positions(Normalizer& n, const Operation& cast) {
    auto counted = affine_in(n, cast.dtype, cast.operands[0]);
    if (!counted) return std::nullopt;
    return integer_sum(n, std::move(counted->terms), counted->offset, cast.dtype);
}

// By their difference, so that the many expressions of a causal mask have one form: 0 <= high - low, or not 0 <= low -
// high - 1, whichever has a positive first coefficient. Positions are far from the limits at which integers wrap.
std::optional<ScaledTerm> order_of_positions(Normalizer& n, const Operation& le) {
    const ScaledTerm &low = le.operands[0], &high = le.operands[1];
    const auto minuend = affine_in(n, DType::i64, high), subtrahend = affine_in(n, DType::i64, low);
    if (!minuend || !subtrahend || (minuend->terms.empty() && subtrahend->terms.empty())) return std::nullopt;
    return within_range([&] { return compared_difference(n, *minuend, *subtrahend); });
}

std::optional<ScaledTerm> iota_from_zero(Normalizer& n, const Operation& iota) {
    std::vector<ScaledTerm> terms;
    if (!iota.shape->empty()) {
        Attributes plain = *iota.attributes;
        plain[1].value = std::vector<Dim>{0};
        terms.push_back({1, n.op_term(Op::iota, iota.dtype, iota.shape, {}, &plain)});
    }
    return integer_sum(n, std::move(terms), iota.attributes->dims("start")[0], iota.dtype);
}

}  // namespace cairn::normal_form
