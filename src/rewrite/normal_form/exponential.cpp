#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <cmath>

// Exponentials, logarithms and functions of them.
namespace cairn::normal_form {
namespace {

using ir::Op;

// Larger numbers stay in the exponent: their exponential is almost zero or infinite.
constexpr double most_exponent = 64;

}  // namespace

bool Normalizer::is_op(TermId core, Op op) const {
    const Term& term = terms_[core];
    return term.kind == TermKind::op && term.op == op && term.values.empty();
}

// True for terms made of exponentials only: no element is below 0.
bool Normalizer::is_exponential(TermId core) const {
    const auto part_is = [&](const ScaledTerm& part) { return is_exponential(part.core); };
    const Term& term = terms_[core];
    if (term.kind == TermKind::product) return std::all_of(term.parts.begin(), term.parts.end(), part_is);
    return is_op(core, Op::exp) || (is_op(core, Op::sum) && part_is(term.parts[0]));
}

// e^(a + b) = e^a e^b; e^(p log r) = r^p if r is never negative.
ScaledTerm Normalizer::exponential(const ScaledTerm& x, DType dtype) {
    const Term& term = terms_[x.core];
    const auto whole = [&] { return ScaledTerm{1, op_term(Op::exp, dtype, term.shape, {x})}; };
    if (is_op(x.core, Op::log) && term.parts[0].factor == 1 && is_exponential(term.parts[0].core))
        return power({1, term.parts[0].core}, x.factor);
    if (term.kind != TermKind::sum || term.parts.size() > most_flattened_parts) return whole();
    ScaledTerm result{1, one(dtype)};
    for (const ScaledTerm& part : term.parts) {
        const double factor = x.factor * part.factor;
        const bool is_number = terms_[part.core].kind == TermKind::one;
        if (is_number && std::fabs(factor) > most_exponent) return whole();
        result = is_number ? ScaledTerm{result.factor * std::exp(factor), result.core}
                           : multiply(result, exponential({factor, part.core}, dtype));
    }
    return result;
}

// log(e^a r) = a + log r; log(1 / r) = -log r.
ScaledTerm Normalizer::logarithm(const ScaledTerm& x, DType dtype) {
    const std::span<const ScaledTerm> given = powers_of(x.core);
    std::vector<ScaledTerm> powers(given.begin(), given.end()), terms;
    std::erase_if(powers, [&](const ScaledTerm& power) {
        if (!is_op(power.core, Op::exp) || power.factor != 1) return false;
        terms.push_back(terms_[power.core].parts[0]);
        return true;
    });
    const bool is_inverse = powers.size() == 1 && powers[0].factor == -1 && x.factor == 1;
    if (is_inverse) powers[0].factor = 1;
    if (!powers.empty() || x.factor != 1) {
        const ScaledTerm rest{x.factor, product(powers, dtype)};
        terms.push_back({is_inverse ? -1.0 : 1.0, op_term(Op::log, dtype, terms_[rest.core].shape, {rest})});
    }
    return terms.size() == 1 ? terms[0] : add(terms, dtype);
}

// True if the exponent with the oldest core has a negative factor, or there is none.
bool Normalizer::is_falling(TermId core) const {
    const ScaledTerm* first = nullptr;
    for (const ScaledTerm& power : powers_of(core)) {
        if (!is_op(power.core, Op::exp) || power.factor != 1) continue;
        const ScaledTerm& argument = terms_[power.core].parts[0];
        if (first == nullptr || argument.core < first->core) first = &argument;
    }
    return first == nullptr || first->factor < 0;
}

// Of a + b e^x = e^x (a e^-x + b) takes the side with a falling exponent. Also a - a / (1 + e^x) = a e^x / (1 + e^x)
// and its reverse, and a + a tanh x = 2 a / (1 + e^-2x).
std::optional<ScaledTerm> Normalizer::logistic_sum(const ScaledTerm& first, const ScaledTerm& second, DType dtype) {
    const bool number_first = terms_[first.core].kind == TermKind::one;
    const ScaledTerm &a = number_first ? first : second, &b = number_first ? second : first;
    if (terms_[a.core].kind != TermKind::one) return std::nullopt;
    const ScaledTerm whole{1, b.core};
    if (is_op(b.core, Op::tanh)) {
        if (std::fabs(a.factor) != std::fabs(b.factor)) return std::nullopt;
        const ScaledTerm argument = terms_[b.core].parts[0];
        const double twice = (a.factor < 0) == (b.factor < 0) ? -2 : 2;
        const ScaledTerm rest = exponential({twice * argument.factor, argument.core}, dtype);
        return multiply({2 * a.factor, one(dtype)}, power(add({{1, one(dtype)}, rest}, dtype), -1));
    }
    const std::span<const ScaledTerm> powers = powers_of(b.core);
    if (std::all_of(powers.begin(), powers.end(),
                    [&](const ScaledTerm& p) { return p.factor == 1 && is_op(p.core, Op::exp); })) {
        const ScaledTerm falling = power(whole, -1);
        if (is_falling(b.core) || !is_falling(falling.core)) return std::nullopt;
        return multiply(whole, add({{a.factor * falling.factor, falling.core}, {b.factor, one(dtype)}}, dtype));
    }
    const auto inverse = std::find_if(powers.begin(), powers.end(), [&](const ScaledTerm& power) {
        return power.factor == -1 && terms_[power.core].kind == TermKind::sum && terms_[power.core].parts.size() == 2;
    });
    if (inverse == powers.end() || a.factor != -b.factor) return std::nullopt;
    const std::span<const ScaledTerm> parts = terms_[inverse->core].parts;
    const std::size_t number = terms_[parts[0].core].kind == TermKind::one ? 0 : 1;
    const ScaledTerm rest = parts[1 - number];
    if (!is_constant(parts[number], 1) || !is_exponential(rest.core)) return std::nullopt;
    if (powers.size() == 1) return multiply({a.factor * rest.factor, rest.core}, whole);
    std::vector<ScaledTerm> others(powers.begin(), powers.end());
    others.erase(others.begin() + (inverse - powers.begin()));
    if (rest.factor != 1 || product(others, dtype) != rest.core) return std::nullopt;
    ScaledTerm alone[] = {*inverse};
    return ScaledTerm{a.factor, product(alone, dtype)};
}

// True if `shift` is the maximum m of y, or a multiple of it, by which a sum of e^y is shifted: e^(y - m) / sum e^(y -
// m) = e^y / sum e^y. Where m is not finite, both sides are NaN or the sum is infinite.
bool Normalizer::shifts(const ScaledTerm& shift, TermId sum, DType dtype) {
    if (!is_op(shift.core, Op::max_reduce) || !is_op(sum, Op::sum)) return false;
    const Term &largest = terms_[shift.core], &total = terms_[sum];
    if (!(largest.attributes->dims("axes") == total.attributes->dims("axes"))) return false;
    const ScaledTerm summand = total.parts[0];
    const ScaledTerm y{std::fabs(shift.factor) * largest.parts[0].factor, largest.parts[0].core};
    return same(exponential(y, dtype), summand);
}

// shift_in: m of the power (e^m)^1 or of the term m. total_in: the sum s of the power s^-1 or of the term log s.
std::optional<ScaledTerm> Normalizer::shift_in(const ScaledTerm& entry, ListKind entries) const {
    if (entries == ListKind::terms) return entry;
    if (entry.factor != 1 || !is_op(entry.core, Op::exp)) return std::nullopt;
    return terms_[entry.core].parts[0];
}

std::optional<TermId> Normalizer::total_in(const ScaledTerm& entry, ListKind entries) const {
    if (entries == ListKind::powers) return entry.factor == -1 ? std::optional(entry.core) : std::nullopt;
    return is_op(entry.core, Op::log) ? std::optional(terms_[entry.core].parts[0].core) : std::nullopt;
}

// Removes m and -m, or e^m and e^-m, if the list also has a sum that m shifts.
void Normalizer::drop_shifts(std::vector<ScaledTerm>& list, ListKind entries, DType dtype) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto shift = shift_in(list[i], entries);
        if (!shift || shift->factor >= 0 || !is_op(shift->core, Op::max_reduce)) continue;
        const auto opposite = std::find_if(list.begin(), list.end(), [&](const ScaledTerm& entry) {
            const auto other = shift_in(entry, entries);
            return other && same(*other, negated(*shift));
        });
        const bool is_shift =
            opposite != list.end() && std::any_of(list.begin(), list.end(), [&](const ScaledTerm& entry) {
                const auto total = total_in(entry, entries);
                return total && shifts(*shift, *total, dtype);
            });
        if (!is_shift) continue;
        const auto other = static_cast<std::size_t>(opposite - list.begin());
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::max(i, other)));
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::min(i, other)));
        return drop_shifts(list, entries, dtype);
    }
}

// e^x e^-x / (1 + e^-x) = 1 / (1 + e^-x).
void Normalizer::drop_logistic(std::vector<ScaledTerm>& powers) {
    for (const ScaledTerm& inverse : powers) {
        const Term& sum = terms_[inverse.core];
        if (inverse.factor != -1 || sum.kind != TermKind::sum || sum.parts.size() != 2) continue;
        const std::size_t number = terms_[sum.parts[0].core].kind == TermKind::one ? 0 : 1;
        if (terms_[sum.parts[number].core].kind != TermKind::one) continue;
        std::vector<ScaledTerm> rest = powers;
        bool is_whole = true;
        const auto take = [&](const ScaledTerm& argument) {
            const auto it = std::find_if(rest.begin(), rest.end(), [&](const ScaledTerm& power) {
                return power.factor == 1 && is_op(power.core, Op::exp) && same(terms_[power.core].parts[0], argument);
            });
            is_whole = is_whole && it != rest.end();
            if (it != rest.end()) rest.erase(it);
        };
        for (const ScaledTerm& power : powers_of(sum.parts[1 - number].core)) {
            if (!is_op(power.core, Op::exp) || power.factor != 1) is_whole = false;
            if (!is_whole) break;
            const ScaledTerm argument = terms_[power.core].parts[0];
            take(argument);
            take({-argument.factor, argument.core});
        }
        if (!is_whole) continue;
        powers = std::move(rest);
        return;
    }
}

}  // namespace cairn::normal_form
