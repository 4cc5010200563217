#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cairn::normal_form {
namespace {

using ir::Op;

// True for an integer that a double represents exactly, and no other integer with it.
bool is_exact(double value) { return std::trunc(value) == value && std::fabs(value) < 0x1p53; }

bool counts_positions(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

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

}  // namespace

Normalizer::Affine Normalizer::affine(const ScaledTerm& value) const {
    const Term& term = terms_[value.core];
    const auto factor = static_cast<std::int64_t>(value.factor);
    if (term.kind == TermKind::one) return {{}, factor};
    if (term.kind == TermKind::sum && term.parts.size() <= most_flattened_parts) {
        Affine result;
        add_scaled(result, {{term.parts.begin(), term.parts.end()}, term.attributes->dims("offset")[0]}, factor);
        return result;
    }
    return {{value}, 0};
}

void Normalizer::add_scaled(Affine& sum, const Affine& other, std::int64_t factor) {
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

// A constant that a double cannot represent exactly stays an offset.
ScaledTerm Normalizer::from_affine(Affine sum, DType dtype) {
    std::sort(sum.terms.begin(), sum.terms.end(),
              [](const ScaledTerm& a, const ScaledTerm& b) { return a.core < b.core; });
    if (sum.terms.empty() && sum.offset.is_constant())
        if (const auto value = static_cast<double>(sum.offset.constant()); is_exact(value)) return {value, one(dtype)};
    if (sum.terms.size() == 1 && sum.offset == Dim(0)) return sum.terms[0];
    const Attributes attributes{{"offset", std::vector<Dim>{sum.offset}}};
    Term term = terms_.draft(TermKind::sum, dtype, joint_shape(sum.terms));
    term.parts = sum.terms;
    term.attributes = &attributes;
    return {1, terms_.intern(term)};
}

// The iota under a term's movement ops; null if there is none.
const Term* Normalizer::iota_under(TermId core) const {
    const Term* term = &terms_[core];
    while (term->kind == TermKind::op &&
           (term->op == Op::reshape || term->op == Op::transpose || term->op == Op::broadcast))
        term = &terms_[term->parts[0].core];
    return term->kind == TermKind::op && term->op == Op::iota ? term : nullptr;
}

bool Normalizer::is_iota_sum(const Affine& sum) const {
    return std::all_of(sum.terms.begin(), sum.terms.end(),
                       [&](const ScaledTerm& part) { return iota_under(part.core) != nullptr; });
}

// True if every element of a sum of iotas fits in i32.
bool Normalizer::is_narrow(const Affine& sum) const {
    Dim low = sum.offset, high = sum.offset;
    for (const ScaledTerm& part : sum.terms) {
        const auto factor = static_cast<std::int64_t>(part.factor);
        const Dim last = ((*iota_under(part.core)->shape)[0] - 1) * factor;
        (factor < 0 ? low : high) = (factor < 0 ? low : high) + last;
    }
    return provably_le(std::numeric_limits<std::int32_t>::min(), low) &&
           provably_le(high, std::numeric_limits<std::int32_t>::max());
}

TermId Normalizer::with_iota_dtype(TermId core, DType dtype) {
    Term term = terms_[core];
    if (term.dtype == dtype) return core;
    term.dtype = dtype;
    std::vector<ScaledTerm> parts(term.parts.begin(), term.parts.end());
    for (ScaledTerm& part : parts) part.core = with_iota_dtype(part.core, dtype);
    Attributes attributes = *term.attributes;
    for (Attribute& attribute : attributes)
        if (attribute.name == "dtype") attribute.value = std::vector<Dim>{static_cast<std::int64_t>(dtype)};
    term.parts = parts;
    term.attributes = &attributes;
    return terms_.intern(term);
}

// Positions have the same values in i32 and i64.
std::optional<Normalizer::Affine> Normalizer::affine_in(DType dtype, const ScaledTerm& value) {
    if (!counts_positions(dtype) || !counts_positions(terms_[value.core].dtype) || !is_exact(value.factor))
        return std::nullopt;
    const bool narrow = dtype == DType::i32 || terms_[value.core].dtype == DType::i32;
    return within_range([&]() -> std::optional<Affine> {
        Affine sum = affine(value);
        if (!all_exact(sum.terms) || !is_iota_sum(sum) || (narrow && !is_narrow(sum))) return std::nullopt;
        for (ScaledTerm& term : sum.terms) term.core = with_iota_dtype(term.core, dtype);
        return sum;
    });
}

// low <= high of positions, by their difference, so that the many expressions of a causal mask have one form: 0 <= high
// - low, or not 0 <= low - high - 1, whichever has a positive first coefficient. Positions are far from the limits at
// which integers wrap.
std::optional<ScaledTerm> Normalizer::compare_positions(const ScaledTerm& low, const ScaledTerm& high) {
    const auto minuend = affine_in(DType::i64, high), subtrahend = affine_in(DType::i64, low);
    if (!minuend || !subtrahend || (minuend->terms.empty() && subtrahend->terms.empty())) return std::nullopt;
    return within_range([&] { return compare_difference(*minuend, *subtrahend); });
}

std::optional<ScaledTerm> Normalizer::compare_difference(Affine difference, const Affine& subtrahend) {
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
    const ScaledTerm zero{0, one(DType::i64)}, value = from_affine(std::move(difference), DType::i64);
    return ScaledTerm{sign, op_term(Op::le, DType::boolean, joint_shape({zero, value}), {zero, value})};
}

// iota(n, start) = iota(n) + start.
ScaledTerm Normalizer::from_iota(const ir::Node& iota) {
    Affine sum{{}, iota.attributes.dims("start")[0]};
    if (!(iota.shape[0] == Dim(1))) {
        Attributes plain = iota.attributes;
        plain[1].value = std::vector<Dim>{0};
        sum.terms.push_back({1, op_term(Op::iota, iota.dtype, terms_.keep(iota.shape), {}, &plain)});
    }
    return from_affine(std::move(sum), iota.dtype);
}

// Addition of wrapping integers is a ring, so sums are collected; all other ops stay as they are.
ScaledTerm Normalizer::integer(Op op, DType dtype, const Attributes& attributes, std::span<const ScaledTerm> x) {
    const auto collect = [&](const ScaledTerm& left, std::int64_t a, const ScaledTerm& right, std::int64_t b) {
        return within_range([&]() -> std::optional<ScaledTerm> {
            Affine sum;
            add_scaled(sum, affine(left), a);
            add_scaled(sum, affine(right), b);
            if (!all_exact(sum.terms)) return std::nullopt;
            return from_affine(std::move(sum), dtype);
        });
    };
    const auto number = [&](const ScaledTerm& value) {
        return terms_[value.core].kind == TermKind::one && std::fabs(value.factor) < 0x1p20;
    };
    const auto whole = [](double factor) { return static_cast<std::int64_t>(factor); };
    std::optional<ScaledTerm> sum;
    if (all_exact(x)) {
        if (op == Op::add) sum = collect(x[0], 1, x[1], 1);
        if (op == Op::sub) sum = collect(x[0], 1, x[1], -1);
        if (op == Op::neg) sum = collect(x[0], -1, x[0], 0);
        if (op == Op::mul && number(x[0])) sum = collect(x[1], whole(x[0].factor), x[0], 0);
        if (op == Op::mul && number(x[1])) sum = collect(x[0], whole(x[1].factor), x[1], 0);
    }
    if (sum) return *sum;
    return {1, op_term(op, dtype, joint_shape(x), x, &attributes)};
}

}  // namespace cairn::normal_form
