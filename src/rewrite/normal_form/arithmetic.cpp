#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace cairn::normal_form {
namespace {

using ir::Op;

// Masking threshold: a number at or below it hides any score that is added to it.
constexpr double hiding_score = -1e30;

bool is_whole(double exponent) { return std::trunc(exponent) == exponent; }

// Powers of one base are merged only where nothing cancels and no root is undone.
bool can_join(double a, double b) { return is_whole(a) && is_whole(b) && (a > 0) == (b > 0); }

std::vector<ScaledTerm> list_of(std::span<const ScaledTerm> parts) { return {parts.begin(), parts.end()}; }

}  // namespace

std::span<const ScaledTerm> Normalizer::powers_of(TermId core) const {
    const Term& term = terms_[core];
    if (term.kind == TermKind::one) return {};
    if (term.kind == TermKind::product && term.parts.size() <= most_flattened_parts) return term.parts;
    return {&term.whole, 1};
}

TermId Normalizer::product(std::span<ScaledTerm> powers, DType dtype) {
    if (powers.empty()) return one(dtype);
    if (powers.size() == 1 && powers[0].factor == 1) return powers[0].core;
    std::sort(powers.begin(), powers.end(), by_core);
    Term term = terms_.draft(TermKind::product, dtype, joint_shape(powers));
    term.parts = powers;
    return terms_.intern(term);
}

ScaledTerm Normalizer::opaque(Op op, DType dtype, std::span<const ScaledTerm> parts) {
    return {1, op_term(op, dtype, joint_shape(parts), parts)};
}

ScaledTerm Normalizer::multiply(const ScaledTerm& a, const ScaledTerm& b) {
    const DType dtype = terms_[a.core].dtype;
    const double factor = a.factor * b.factor;
    // 0 * x is neither 0 nor x: it is NaN for infinities.
    const bool vanishes = factor == 0 && (terms_[a.core].kind != TermKind::one || terms_[b.core].kind != TermKind::one);
    if (!std::isfinite(factor) || vanishes) return opaque(Op::mul, dtype, std::array{a, b});
    const std::span<const ScaledTerm> left = powers_of(a.core), right = powers_of(b.core);
    std::vector<ScaledTerm> powers;
    powers.reserve(left.size() + right.size());
    powers.assign(left.begin(), left.end());
    for (const ScaledTerm& power : right) {
        const auto it = std::find_if(powers.begin(), powers.end(), [&](const ScaledTerm& other) {
            return other.core == power.core && can_join(other.factor, power.factor);
        });
        if (it == powers.end())
            powers.push_back(power);
        else
            it->factor += power.factor;
    }
    drop_shifts(powers, ListKind::powers, dtype);
    drop_logistic(powers);
    return {factor, product(powers, dtype)};
}

ScaledTerm Normalizer::power(const ScaledTerm& base, double exponent) {
    const DType dtype = terms_[base.core].dtype;
    ScaledTerm positive = base;
    // A root of a negative multiple: the sign stays under the root.
    if (base.factor < 0 && !is_whole(exponent))
        positive = {-base.factor, op_term(Op::neg, dtype, terms_[base.core].shape, {ScaledTerm{1, base.core}})};
    const double factor = std::pow(positive.factor, exponent);
    if (!std::isfinite(factor) || !std::isfinite(exponent))
        return opaque(Op::pow, dtype, std::array{base, ScaledTerm{exponent, one(dtype)}});
    std::vector<ScaledTerm> powers = list_of(powers_of(positive.core));
    const bool inside = std::fabs(exponent) == 1 || (powers.size() == 1 && powers[0].factor == 1) ||
                        (is_whole(exponent) && std::all_of(powers.begin(), powers.end(),
                                                           [](const ScaledTerm& p) { return is_whole(p.factor); }));
    if (!inside) powers = {{exponent, positive.core}};
    if (!inside) return {factor, product(powers, dtype)};
    for (ScaledTerm& power : powers) {
        power.factor *= exponent;
        const Term& term = terms_[power.core];
        if (term.kind == TermKind::op && term.op == Op::exp && power.factor != 1) {  // (e^z)^p = e^(p z)
            const ScaledTerm argument{term.parts[0].factor * power.factor, term.parts[0].core};
            power = {1, op_term(Op::exp, dtype, term.shape, {argument})};
        }
    }
    return {factor, product(powers, dtype)};
}

// Appends the terms of `term`: sums, and products with a sum as a factor, are expanded as long as the terms are few.
void Normalizer::expand(const ScaledTerm& term, std::vector<ScaledTerm>& out) {
    const Term& core = terms_[term.core];
    if (core.kind == TermKind::sum && core.parts.size() <= most_flattened_parts) {
        for (const ScaledTerm& part : core.parts) expand({term.factor * part.factor, part.core}, out);
        return;
    }
    if (core.kind == TermKind::product) {
        std::size_t count = 1;
        const ScaledTerm* sum = nullptr;
        for (const ScaledTerm& part : core.parts) {
            if (part.factor != 1 || terms_[part.core].kind != TermKind::sum) continue;
            count *= terms_[part.core].parts.size();
            sum = &part;
        }
        if (sum != nullptr && count <= most_flattened_parts && laws_.has(Law::distributed)) {
            std::vector<ScaledTerm> rest = list_of(core.parts);
            rest.erase(rest.begin() + (sum - core.parts.data()));
            const ScaledTerm others{term.factor, product(rest, core.dtype)};
            for (const ScaledTerm& part : terms_[sum->core].parts) expand(multiply(others, part), out);
            return;
        }
    }
    out.push_back(term);
}

// The powers that all terms have in common.
std::vector<ScaledTerm> Normalizer::common_powers(std::span<const ScaledTerm> terms) const {
    if (!laws_.has(Law::distributed)) return {};
    std::vector<ScaledTerm> common = list_of(powers_of(terms[0].core));
    for (const ScaledTerm& term : terms.subspan(1)) {
        if (common.empty()) break;
        const std::span<const ScaledTerm> powers = powers_of(term.core);
        std::erase_if(common, [&](ScaledTerm& shared) {
            for (const ScaledTerm& power : powers) {
                if (power.core != shared.core) continue;
                if (power.factor == shared.factor) return false;
                if (!can_join(power.factor, shared.factor)) continue;
                if (std::fabs(power.factor) < std::fabs(shared.factor)) shared.factor = power.factor;
                return false;
            }
            return true;
        });
    }
    return common;
}

// True for a number so low that it hides any score added to it.
bool Normalizer::hides(const ScaledTerm& value) const {
    const Term& term = terms_[value.core];
    return term.values.size() == 1 ? term.values[0] <= hiding_score
                                   : term.kind == TermKind::one && value.factor <= hiding_score;
}

// True for -inf, which no addend changes except NaN and +inf.
bool Normalizer::is_lowest(const ScaledTerm& value) const {
    const Term& term = terms_[value.core];
    return term.values.size() == 1 && term.values[0] == -std::numeric_limits<double>::infinity();
}

// True for a product of matrices, and for values derived from one by a few elementwise and movement ops. Choices are
// excluded: a number in them may become one that hides.
bool Normalizer::is_score(const ScaledTerm& value) const {
    std::vector<TermId> open{value.core};
    for (std::size_t i = 0; i < open.size(); ++i) {
        const Term& term = terms_[open[i]];
        if (is_product(term)) return true;
        if (term.kind == TermKind::op && term.op == Op::where) continue;
        const bool is_moved = term.kind == TermKind::op && ir::info(term.op).kind == ir::OpClass::movement;
        if ((!is_elementwise(term) && !is_moved) || open.size() > most_flattened_parts) continue;
        for (const ScaledTerm& part : term.parts) open.push_back(part.core);
    }
    return false;
}

// Matches a choice between a value `seen` and a hiding number, in either order.
std::optional<Normalizer::Masking> Normalizer::masking(const ScaledTerm& value) const {
    const Term& choice = terms_[value.core];
    if (choice.kind != TermKind::op || choice.op != Op::where || value.factor != 1) return std::nullopt;
    for (const std::size_t seen : {1U, 2U})
        if (hides(choice.parts[3 - seen]) && !hides(choice.parts[seen]))
            return Masking{choice.parts[0], choice.parts[seen], choice.parts[3 - seen], seen == 1};
    return std::nullopt;
}

ScaledTerm Normalizer::masked(const Masking& by, const ScaledTerm& seen, DType dtype) {
    return by.seen_first ? choose(by.condition, seen, by.hidden, dtype) : choose(by.condition, by.hidden, seen, dtype);
}

// scores + where(visible, 0, hidden) = where(visible, scores, hidden), if `hidden` is so low that it absorbs any score.
// Under a finite `hidden` only scores are moved. Another addend may be a mask too: where both hide, -1e30 twice is
// -2e30, which is below a score that only one of them hides, and this matters in rows with nothing visible. -inf
// absorbs all addends. Of several masks one takes the scores: a mask that distinguishes queries, and the oldest of
// those.
std::optional<ScaledTerm> Normalizer::additive_mask(std::span<const ScaledTerm> terms, DType dtype) {
    if (!laws_.has(Law::masked) || terms.size() < 2) return std::nullopt;
    const auto goes_before = [&](const Masking& a, const Masking& b) {
        const auto of_keys = [&](const Masking& m) { return from_end(*terms_[m.condition.core].shape, 1) == Dim(1); };
        return of_keys(a) != of_keys(b) ? of_keys(b) : a.condition.core < b.condition.core;
    };
    std::optional<Masking> mask, holder;
    std::size_t at = 0, of_holder = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const auto found = masking(terms[i]);
        if (!found) continue;
        const bool is_empty = is_constant(found->seen, 0);
        if (is_empty && is_lowest(found->hidden)) {
            std::vector<ScaledTerm> rest = list_of(terms);
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            return masked(*found, add(rest, dtype), dtype);
        }
        if (is_empty && (!mask || goes_before(*found, *mask))) mask = found, at = i;
        if (!is_empty && is_score(found->seen)) holder = found, of_holder = i;
    }
    if (!mask || (holder && is_lowest(holder->hidden))) return std::nullopt;
    std::vector<ScaledTerm> scores, beside;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (i != at && !(holder && i == of_holder)) (is_score(terms[i]) ? scores : beside).push_back(terms[i]);
    if (holder) {
        const bool takes = goes_before(*mask, *holder);
        if (!takes && scores.empty()) return std::nullopt;
        scores.push_back(holder->seen);
        beside.push_back(masked(takes ? *holder : *mask, {0, one(dtype)}, dtype));
        if (!takes) mask = holder;
    }
    if (scores.empty()) return std::nullopt;
    beside.push_back(masked(*mask, add(scores, dtype), dtype));
    return beside.size() == 1 ? beside[0] : add(beside, dtype);
}

// where(visible, scores, -inf) + more = where(visible, scores + more, -inf). Addends that are constant along the last
// axis stay outside, from where they leave a softmax, except numbers, which belong to the varying part.
std::optional<ScaledTerm> Normalizer::beneath_mask(std::span<const ScaledTerm> terms, DType dtype) {
    if (!laws_.has(Law::masked)) return std::nullopt;
    for (std::size_t i = 0; i < terms.size() && terms.size() > 1; ++i) {
        const Term& choice = terms_[terms[i].core];
        if (choice.kind != TermKind::op || choice.op != Op::where || terms[i].factor != 1) continue;
        const std::span<const ScaledTerm> parts = choice.parts;
        const bool hides_else = is_lowest(parts[2]);
        if (!hides_else && !is_lowest(parts[1])) continue;
        std::vector<ScaledTerm> within{parts[hides_else ? 1 : 2]}, outside;
        bool varies = false;
        for (std::size_t j = 0; j < terms.size(); ++j) {
            if (j == i) continue;
            const Term& term = terms_[terms[j].core];
            const bool is_along = !term.shape->empty() && !(term.shape->back() == Dim(1));
            varies |= is_along;
            (is_along || term.kind == TermKind::one ? within : outside).push_back(terms[j]);
        }
        if (!varies) continue;
        const ScaledTerm scores = add(within, dtype);
        outside.push_back(hides_else ? choose(parts[0], scores, parts[2], dtype)
                                     : choose(parts[0], parts[1], scores, dtype));
        return add(outside, dtype);
    }
    return std::nullopt;
}

// Adds up the numbers of a sum. Numbers that alone multiply a value do not cancel: 2*x - x is not x where x is
// infinite.
void Normalizer::join_numbers(std::vector<ScaledTerm>& terms, bool are_factors, DType dtype) {
    double positive = 0, negative = 0;
    const auto is_number = [&](const ScaledTerm& term) { return terms_[term.core].kind == TermKind::one; };
    for (const ScaledTerm& term : terms)
        if (is_number(term)) (term.factor < 0 ? negative : positive) += term.factor;
    std::erase_if(terms, is_number);
    if (!are_factors || !terms.empty()) positive += std::exchange(negative, 0);
    for (const double total : {positive, negative})
        if (total != 0) terms.push_back({total, one(dtype)});
    if (terms.empty()) terms.push_back({0, one(dtype)});
}

ScaledTerm Normalizer::add(std::span<const ScaledTerm> given, DType dtype) {
    std::vector<ScaledTerm> terms;
    terms.reserve(most_flattened_parts);
    for (const ScaledTerm& term : given) expand(term, terms);
    // x + 0 is x, except for the sign of a zero.
    if (std::any_of(terms.begin(), terms.end(), [&](const ScaledTerm& t) { return !is_constant(t, 0); }))
        std::erase_if(terms, [&](const ScaledTerm& t) { return is_constant(t, 0); });
    const bool finite =
        std::all_of(terms.begin(), terms.end(), [](const ScaledTerm& t) { return std::isfinite(t.factor); });
    if (!finite) return opaque(Op::add, dtype, given);
    if (const auto masked = additive_mask(terms, dtype)) return *masked;
    if (const auto masked = beneath_mask(terms, dtype)) return *masked;

    // Like terms are merged, but never cancelled.
    std::sort(terms.begin(), terms.end(), by_core);
    std::vector<ScaledTerm> joined;
    joined.reserve(terms.size());
    for (const ScaledTerm& term : terms) {
        if (!joined.empty() && joined.back().core == term.core && (joined.back().factor < 0) == (term.factor < 0))
            joined.back().factor += term.factor;
        else
            joined.push_back(term);
    }
    drop_shifts(joined, ListKind::terms, dtype);
    if (joined.size() == 1) return joined[0];

    std::vector<ScaledTerm> common = common_powers(joined);
    if (!common.empty())
        for (ScaledTerm& term : joined) {
            std::vector<ScaledTerm> rest = list_of(powers_of(term.core));
            for (const ScaledTerm& shared : common)
                for (ScaledTerm& power : rest)
                    if (power.core == shared.core &&
                        (power.factor == shared.factor || can_join(power.factor, shared.factor))) {
                        power.factor -= shared.factor;
                        break;
                    }
            std::erase_if(rest, [](const ScaledTerm& power) { return power.factor == 0; });
            term.core = product(rest, dtype);
        }
    join_numbers(joined, !common.empty(), dtype);
    if (joined.size() == 1) return multiply(joined[0], {1, product(common, dtype)});
    std::sort(joined.begin(), joined.end(), by_core);
    if (joined.size() == 2)
        if (const auto known = logistic_sum(joined[0], joined[1], dtype))
            return multiply(*known, {1, product(common, dtype)});

    // The sum is divided by its largest coefficient, so that multiples of a sum share a core. Among equally large
    // coefficients that of the oldest core is taken.
    ScaledTerm pivot{0, 0};
    for (const ScaledTerm& term : joined)
        if (std::fabs(term.factor) > std::fabs(pivot.factor) &&
            !close(std::fabs(term.factor), std::fabs(pivot.factor), dtype))
            pivot = term;
    if (pivot.factor == 0) return opaque(Op::add, dtype, given);
    for (ScaledTerm& term : joined) term.factor /= pivot.factor;

    Term sum = terms_.draft(TermKind::sum, dtype, joint_shape(joined));
    sum.parts = joined;
    const ScaledTerm value{pivot.factor, terms_.intern(sum)};
    return common.empty() ? value : multiply(value, {1, product(common, dtype)});
}

}  // namespace cairn::normal_form
