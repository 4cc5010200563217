#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <cmath>

// Exponentials, logarithms and functions of them.
namespace cairn::normal_form {
namespace {

using ir::Op;

// Larger numbers stay in the exponent: their exponential is almost zero or infinite.
constexpr double max_exponent = 64;

/// The entries of a list: powers of a product or terms of a sum.
enum class ListKind { powers, terms };

ScaledTerm exponential(Normalizer& n, const ScaledTerm& x, DType dtype) { return n.apply(Op::exp, dtype, {x}); }

// True for terms made of exponentials only: no element is below 0.
bool is_exponential(const Normalizer& n, TermId core) {
    const auto part_is = [&](const ScaledTerm& part) { return is_exponential(n, part.core); };
    const Term& term = n.term(core);
    if (term.kind == TermKind::product) return std::all_of(term.parts.begin(), term.parts.end(), part_is);
    return n.is_op(core, Op::exp) || (n.is_op(core, Op::sum) && part_is(term.parts[0]));
}

// True if the exponent with the oldest core has a negative factor, or there is none.
bool is_falling(const Normalizer& n, TermId core) {
    const ScaledTerm* first = nullptr;
    for (const ScaledTerm& power : n.powers_of(core)) {
        if (!n.is_op(power.core, Op::exp) || power.factor != 1) continue;
        const ScaledTerm& argument = n.term(power.core).parts[0];
        if (first == nullptr || argument.core < first->core) first = &argument;
    }
    return first == nullptr || first->factor < 0;
}

/// The number of a sum of a number and another term.
struct NumberAndTerm {
    ScaledTerm number, term;
};
std::optional<NumberAndTerm> number_and_term(const Normalizer& n, const Sum& sum) {
    if (sum.terms.size() != 2) return std::nullopt;
    const ScaledTerm &first = sum.terms[0], &second = sum.terms[1];
    if (n.term(first.core).kind == TermKind::one) return NumberAndTerm{first, second};
    if (n.term(second.core).kind == TermKind::one) return NumberAndTerm{second, first};
    return std::nullopt;
}

ScaledTerm times_common(Normalizer& n, const ScaledTerm& value, Sum& sum) {
    return n.multiply(value, {1, n.product(sum.common, sum.dtype)});
}

// True if `shift` is the maximum m of y, or a multiple of it, by which a sum of e^y is shifted: e^(y - m) / sum e^(y -
// m) = e^y / sum e^y. Where m is not finite, both sides are NaN or the sum is infinite.
bool shifts(Normalizer& n, const ScaledTerm& shift, TermId sum, DType dtype) {
    if (!n.is_op(shift.core, Op::max_reduce) || !n.is_op(sum, Op::sum)) return false;
    const Term &largest = n.term(shift.core), &total = n.term(sum);
    if (!(largest.attributes->dims("axes") == total.attributes->dims("axes"))) return false;
    const ScaledTerm summand = total.parts[0];
    const ScaledTerm y{std::fabs(shift.factor) * largest.parts[0].factor, largest.parts[0].core};
    return n.same(exponential(n, y, dtype), summand);
}

// shift_in: m of the power (e^m)^1 or of the term m. total_in: the sum s of the power s^-1 or of the term log s.
std::optional<ScaledTerm> shift_in(const Normalizer& n, const ScaledTerm& entry, ListKind entries) {
    if (entries == ListKind::terms) return entry;
    if (entry.factor != 1 || !n.is_op(entry.core, Op::exp)) return std::nullopt;
    return n.term(entry.core).parts[0];
}

std::optional<TermId> total_in(const Normalizer& n, const ScaledTerm& entry, ListKind entries) {
    if (entries == ListKind::powers) return entry.factor == -1 ? std::optional(entry.core) : std::nullopt;
    return n.is_op(entry.core, Op::log) ? std::optional(n.term(entry.core).parts[0].core) : std::nullopt;
}

// Removes m and -m, or e^m and e^-m, if the list also has a sum that m shifts.
void drop_shifts(Normalizer& n, std::vector<ScaledTerm>& list, ListKind entries, DType dtype) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto shift = shift_in(n, list[i], entries);
        if (!shift || shift->factor >= 0 || !n.is_op(shift->core, Op::max_reduce)) continue;
        const auto opposite = std::find_if(list.begin(), list.end(), [&](const ScaledTerm& entry) {
            const auto other = shift_in(n, entry, entries);
            return other && n.same(*other, negated(*shift));
        });
        const bool is_shift =
            opposite != list.end() && std::any_of(list.begin(), list.end(), [&](const ScaledTerm& entry) {
                const auto total = total_in(n, entry, entries);
                return total && shifts(n, *shift, *total, dtype);
            });
        if (!is_shift) continue;
        const auto other = static_cast<std::size_t>(opposite - list.begin());
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::max(i, other)));
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::min(i, other)));
        return drop_shifts(n, list, entries, dtype);
    }
}

}  // namespace

std::optional<ScaledTerm> exponential_of_log(Normalizer& n, const Operation& exp) {
    const ScaledTerm& x = exp.operands[0];
    if (!n.is_op(x.core, Op::log)) return std::nullopt;
    const ScaledTerm& argument = n.term(x.core).parts[0];
    if (argument.factor != 1 || !is_exponential(n, argument.core)) return std::nullopt;
    return n.power({1, argument.core}, x.factor);
}

std::optional<ScaledTerm> exponential_of_sum(Normalizer& n, const Operation& exp) {
    const ScaledTerm& x = exp.operands[0];
    const Term& term = n.term(x.core);
    if (term.kind != TermKind::sum || term.parts.size() > max_flattened_parts) return std::nullopt;
    ScaledTerm result = n.number(1, exp.dtype);
    for (const ScaledTerm& part : term.parts) {
        const double factor = x.factor * part.factor;
        const bool is_number = n.term(part.core).kind == TermKind::one;
        if (is_number && std::fabs(factor) > max_exponent) return std::nullopt;
        result = is_number ? ScaledTerm{result.factor * std::exp(factor), result.core}
                           : n.multiply(result, exponential(n, {factor, part.core}, exp.dtype));
    }
    return result;
}

bool power_of_exponential(Normalizer& n, TermId core, double exponent, std::vector<ScaledTerm>& out) {
    const Term& term = n.term(core);
    if (term.kind != TermKind::op || term.op != Op::exp || exponent == 1) return false;
    const ScaledTerm argument{term.parts[0].factor * exponent, term.parts[0].core};
    out.push_back({1, n.op_term(Op::exp, term.dtype, term.shape, {argument})});
    return true;
}

std::optional<ScaledTerm> logarithm_of_product(Normalizer& n, const Operation& log) {
    const ScaledTerm& x = log.operands[0];
    const std::span<const ScaledTerm> given = n.powers_of(x.core);
    std::vector<ScaledTerm> powers(given.begin(), given.end()), terms;
    std::erase_if(powers, [&](const ScaledTerm& power) {
        if (!n.is_op(power.core, Op::exp) || power.factor != 1) return false;
        terms.push_back(n.term(power.core).parts[0]);
        return true;
    });
    if (terms.empty()) return std::nullopt;
    if (!powers.empty() || x.factor != 1)
        terms.push_back(n.apply(Op::log, log.dtype, {{x.factor, n.product(powers, log.dtype)}}));
    return terms.size() == 1 ? terms[0] : n.add(terms, log.dtype);
}

std::optional<ScaledTerm> logarithm_of_inverse(Normalizer& n, const Operation& log) {
    const ScaledTerm& x = log.operands[0];
    const std::span<const ScaledTerm> given = n.powers_of(x.core);
    if (given.size() != 1 || given[0].factor != -1 || x.factor != 1) return std::nullopt;
    ScaledTerm inverse[] = {{1, given[0].core}};
    const TermId rest = n.product(inverse, log.dtype);
    return ScaledTerm{-1, n.op_term(Op::log, log.dtype, n.term(rest).shape, {{1, rest}})};
}

std::optional<ScaledTerm> tanh_by_logistic(Normalizer& n, Sum& sum) {
    const auto parts = number_and_term(n, sum);
    if (!parts || !n.is_op(parts->term.core, Op::tanh)) return std::nullopt;
    const ScaledTerm &a = parts->number, &b = parts->term;
    if (std::fabs(a.factor) != std::fabs(b.factor)) return std::nullopt;
    const ScaledTerm argument = n.term(b.core).parts[0];
    const double twice = (a.factor < 0) == (b.factor < 0) ? -2 : 2;
    const ScaledTerm rest = exponential(n, {twice * argument.factor, argument.core}, sum.dtype);
    const ScaledTerm inverse = n.power(n.add({n.number(1, sum.dtype), rest}, sum.dtype), -1);
    return times_common(n, n.multiply(n.number(2 * a.factor, sum.dtype), inverse), sum);
}

// Of both sides that with a falling exponent is taken.
std::optional<ScaledTerm> falling_exponent(Normalizer& n, Sum& sum) {
    const auto parts = number_and_term(n, sum);
    if (!parts) return std::nullopt;
    const ScaledTerm &a = parts->number, &b = parts->term;
    const std::span<const ScaledTerm> powers = n.powers_of(b.core);
    if (!std::all_of(powers.begin(), powers.end(),
                     [&](const ScaledTerm& p) { return p.factor == 1 && n.is_op(p.core, Op::exp); }))
        return std::nullopt;
    const ScaledTerm whole{1, b.core}, falling = n.power(whole, -1);
    if (is_falling(n, b.core) || !is_falling(n, falling.core)) return std::nullopt;
    const ScaledTerm rest =
        n.add({{a.factor * falling.factor, falling.core}, n.number(b.factor, sum.dtype)}, sum.dtype);
    return times_common(n, n.multiply(whole, rest), sum);
}

std::optional<ScaledTerm> rest_of_logistic(Normalizer& n, Sum& sum) {
    const auto both = number_and_term(n, sum);
    if (!both) return std::nullopt;
    const ScaledTerm &a = both->number, &b = both->term;
    const std::span<const ScaledTerm> powers = n.powers_of(b.core);
    const auto inverse = std::find_if(powers.begin(), powers.end(), [&](const ScaledTerm& power) {
        return power.factor == -1 && n.term(power.core).kind == TermKind::sum && n.term(power.core).parts.size() == 2;
    });
    if (inverse == powers.end() || a.factor != -b.factor) return std::nullopt;
    const std::span<const ScaledTerm> parts = n.term(inverse->core).parts;
    const std::size_t number = n.term(parts[0].core).kind == TermKind::one ? 0 : 1;
    const ScaledTerm rest = parts[1 - number];
    if (!n.is_constant(parts[number], 1) || !is_exponential(n, rest.core)) return std::nullopt;
    if (powers.size() == 1) return times_common(n, n.multiply({a.factor * rest.factor, rest.core}, {1, b.core}), sum);
    std::vector<ScaledTerm> others(powers.begin(), powers.end());
    others.erase(others.begin() + (inverse - powers.begin()));
    if (rest.factor != 1 || n.product(others, sum.dtype) != rest.core) return std::nullopt;
    ScaledTerm alone[] = {*inverse};
    return times_common(n, {a.factor, n.product(alone, sum.dtype)}, sum);
}

std::optional<ScaledTerm> log_softmax_shift(Normalizer& n, Sum& sum) {
    drop_shifts(n, sum.terms, ListKind::terms, sum.dtype);
    return std::nullopt;
}

void softmax_shift(Normalizer& n, Product& product) { drop_shifts(n, product.powers, ListKind::powers, product.dtype); }

void rising_exponents(Normalizer& n, Product& product) {
    std::vector<ScaledTerm>& powers = product.powers;
    for (const ScaledTerm& inverse : powers) {
        const Term& sum = n.term(inverse.core);
        if (inverse.factor != -1 || sum.kind != TermKind::sum || sum.parts.size() != 2) continue;
        const std::size_t number = n.term(sum.parts[0].core).kind == TermKind::one ? 0 : 1;
        if (n.term(sum.parts[number].core).kind != TermKind::one) continue;
        std::vector<ScaledTerm> rest = powers;
        bool is_whole = true;
        const auto add_argument = [&](const ScaledTerm& argument) {
            const auto it = std::find_if(rest.begin(), rest.end(), [&](const ScaledTerm& power) {
                return power.factor == 1 && n.is_op(power.core, Op::exp) &&
                       n.same(n.term(power.core).parts[0], argument);
            });
            is_whole = is_whole && it != rest.end();
            if (it != rest.end()) rest.erase(it);
        };
        for (const ScaledTerm& power : n.powers_of(sum.parts[1 - number].core)) {
            if (!n.is_op(power.core, Op::exp) || power.factor != 1) is_whole = false;
            if (!is_whole) break;
            const ScaledTerm argument = n.term(power.core).parts[0];
            add_argument(argument);
            add_argument({-argument.factor, argument.core});
        }
        if (!is_whole) continue;
        powers = std::move(rest);
        return;
    }
}

}  // namespace cairn::normal_form
