#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <limits>

// Masks of attention: choices that hide scores.
namespace cairn::normal_form {
namespace {

using ir::Op;

// Masking threshold: a number at or below it hides any score that is added to it.
constexpr double hiding_score = -1e30;

/// A masked value: where(condition, seen, hidden), or with the last two swapped.
struct Masking {
    ScaledTerm condition, seen, hidden;
    bool seen_first;
};

// True for a number so low that it hides any score added to it.
bool hides(const Normalizer& n, const ScaledTerm& value) {
    const Term& term = n.term(value.core);
    return term.values.size() == 1 ? term.values[0] <= hiding_score
                                   : term.kind == TermKind::one && value.factor <= hiding_score;
}

// True for -inf, which no addend changes except NaN and +inf.
bool is_lowest(const Normalizer& n, const ScaledTerm& value) {
    const Term& term = n.term(value.core);
    return term.values.size() == 1 && term.values[0] == -std::numeric_limits<double>::infinity();
}

// True for a product of matrices, and for values derived from one by a few elementwise and movement ops. Choices are
// excluded: a number in them may become one that hides.
bool is_score(const Normalizer& n, const ScaledTerm& value) {
    std::vector<TermId> open{value.core};
    for (std::size_t i = 0; i < open.size(); ++i) {
        const Term& term = n.term(open[i]);
        if (is_product(term)) return true;
        if (term.kind == TermKind::op && term.op == Op::where) continue;
        const bool is_moved = term.kind == TermKind::op && ir::info(term.op).kind == ir::OpClass::movement;
        if ((!is_elementwise(term) && !is_moved) || open.size() > max_flattened_parts) continue;
        for (const ScaledTerm& part : term.parts) open.push_back(part.core);
    }
    return false;
}

// Matches a choice between a value `seen` and a hiding number, in either order.
std::optional<Masking> masking(const Normalizer& n, const ScaledTerm& value) {
    const Term& choice = n.term(value.core);
    if (choice.kind != TermKind::op || choice.op != Op::where || value.factor != 1) return std::nullopt;
    for (const std::size_t seen : {1U, 2U})
        if (hides(n, choice.parts[3 - seen]) && !hides(n, choice.parts[seen]))
            return Masking{choice.parts[0], choice.parts[seen], choice.parts[3 - seen], seen == 1};
    return std::nullopt;
}

ScaledTerm with_mask(Normalizer& n, const Masking& by, const ScaledTerm& seen, DType dtype) {
    return by.seen_first ? n.apply(Op::where, dtype, {by.condition, seen, by.hidden})
                         : n.apply(Op::where, dtype, {by.condition, by.hidden, seen});
}

}  // namespace

// scores + where(visible, 0, hidden) = where(visible, scores, hidden), if `hidden` is so low that it absorbs any score.
// Under a finite `hidden` only scores are moved. Another addend may be a mask too: where both hide, -1e30 twice is
// -2e30, which is below a score that only one of them hides, and this matters in rows with nothing visible. -inf
// absorbs all addends. Of several masks one takes the scores: a mask that distinguishes queries, and the oldest of
// those.
std::optional<ScaledTerm> added_mask(Normalizer& n, Sum& sum) {
    const std::span<const ScaledTerm> terms = sum.terms;
    const DType dtype = sum.dtype;
    if (terms.size() < 2) return std::nullopt;
    const auto precedes = [&](const Masking& a, const Masking& b) {
        const auto of_keys = [&](const Masking& m) { return from_end(*n.term(m.condition.core).shape, 1) == Dim(1); };
        return of_keys(a) != of_keys(b) ? of_keys(b) : a.condition.core < b.condition.core;
    };
    std::optional<Masking> mask, holder;
    std::size_t at = 0, of_holder = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const auto found = masking(n, terms[i]);
        if (!found) continue;
        const bool is_empty = n.is_constant(found->seen, 0);
        if (is_empty && is_lowest(n, found->hidden)) {
            std::vector<ScaledTerm> rest(terms.begin(), terms.end());
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            return with_mask(n, *found, n.add(rest, dtype), dtype);
        }
        if (is_empty && (!mask || precedes(*found, *mask))) mask = found, at = i;
        if (!is_empty && is_score(n, found->seen)) holder = found, of_holder = i;
    }
    if (!mask || (holder && is_lowest(n, holder->hidden))) return std::nullopt;
    std::vector<ScaledTerm> scores, others;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (i != at && !(holder && i == of_holder)) (is_score(n, terms[i]) ? scores : others).push_back(terms[i]);
    if (holder) {
        const bool replaces = precedes(*mask, *holder);
        if (!replaces && scores.empty()) return std::nullopt;
        scores.push_back(holder->seen);
        others.push_back(with_mask(n, replaces ? *holder : *mask, {0, n.one(dtype)}, dtype));
        if (!replaces) mask = holder;
    }
    if (scores.empty()) return std::nullopt;
    others.push_back(with_mask(n, *mask, n.add(scores, dtype), dtype));
    return others.size() == 1 ? others[0] : n.add(others, dtype);
}

// where(visible, scores, -inf) + more = where(visible, scores + more, -inf). Addends that are constant along the last
// axis stay outside, from where they leave a softmax, except numbers, which belong to the varying part.
std::optional<ScaledTerm> terms_under_mask(Normalizer& n, Sum& sum) {
    const std::span<const ScaledTerm> terms = sum.terms;
    const DType dtype = sum.dtype;
    for (std::size_t i = 0; i < terms.size() && terms.size() > 1; ++i) {
        const Term& choice = n.term(terms[i].core);
        if (choice.kind != TermKind::op || choice.op != Op::where || terms[i].factor != 1) continue;
        const std::span<const ScaledTerm> parts = choice.parts;
        const bool hides_else = is_lowest(n, parts[2]);
        if (!hides_else && !is_lowest(n, parts[1])) continue;
        std::vector<ScaledTerm> within{parts[hides_else ? 1 : 2]}, outside;
        bool varies = false;
        for (std::size_t j = 0; j < terms.size(); ++j) {
            if (j == i) continue;
            const Term& term = n.term(terms[j].core);
            const bool is_along = !term.shape->empty() && !(term.shape->back() == Dim(1));
            varies |= is_along;
            (is_along || term.kind == TermKind::one ? within : outside).push_back(terms[j]);
        }
        if (!varies) continue;
        const ScaledTerm scores = n.add(within, dtype);
        outside.push_back(hides_else ? n.apply(Op::where, dtype, {parts[0], scores, parts[2]})
                                     : n.apply(Op::where, dtype, {parts[0], parts[1], scores}));
        return n.add(outside, dtype);
    }
    return std::nullopt;
}

}  // namespace cairn::normal_form
