#include "rewrite/normal_form/identities.hpp"
#include "rewrite/normal_form/normalizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

// Sums and products of floats, and powers.
namespace cairn::normal_form {
namespace {

using ir::Op;

bool is_whole(double exponent) { return std::trunc(exponent) == exponent; }

// Powers of one base are merged only where nothing cancels and no root is undone.
bool can_join(double a, double b) { return is_whole(a) && is_whole(b) && (a > 0) == (b > 0); }

std::vector<ScaledTerm> list_of(std::span<const ScaledTerm> parts) { return {parts.begin(), parts.end()}; }

ScaledTerm opaque(Normalizer& n, Op op, DType dtype, std::span<const ScaledTerm> parts) {
    return {1, n.op_term(op, dtype, n.joint_shape(parts), parts)};
}

bool is_number(const Normalizer& n, const ScaledTerm& term) { return n.term(term.core).kind == TermKind::one; }

// The powers that all terms have in common.
std::vector<ScaledTerm> common_powers(const Normalizer& n, std::span<const ScaledTerm> terms) {
    std::vector<ScaledTerm> common = list_of(n.powers_of(terms[0].core));
    for (const ScaledTerm& term : terms.subspan(1)) {
        if (common.empty()) break;
        const std::span<const ScaledTerm> powers = n.powers_of(term.core);
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

}  // namespace

std::span<const ScaledTerm> Normalizer::powers_of(TermId core) const {
    const Term& term = terms_[core];
    if (term.kind == TermKind::one) return {};
    if (term.kind == TermKind::product && term.parts.size() <= max_flattened_parts) return term.parts;
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

ScaledTerm Normalizer::multiply(const ScaledTerm& a, const ScaledTerm& b) {
    const DType dtype = terms_[a.core].dtype;
    const double factor = a.factor * b.factor;
    // 0 * x is neither 0 nor x: it is NaN for infinities.
    const bool vanishes = factor == 0 && (!is_number(*this, a) || !is_number(*this, b));
    if (!std::isfinite(factor) || vanishes) return opaque(*this, Op::mul, dtype, std::array{a, b});
    const std::span<const ScaledTerm> left = powers_of(a.core), right = powers_of(b.core);
    Product made{dtype, {}, left.size()};
    made.powers.reserve(left.size() + right.size());
    made.powers.assign(left.begin(), left.end());
    made.powers.insert(made.powers.end(), right.begin(), right.end());
    for (const auto apply : table_->of_products()) apply(*this, made);
    return {factor, product(made.powers, dtype)};
}

ScaledTerm Normalizer::power(const ScaledTerm& base, double exponent) {
    const DType dtype = terms_[base.core].dtype;
    ScaledTerm positive = base;
    // A root of a negative multiple: the sign stays under the root.
    if (base.factor < 0 && !is_whole(exponent))
        positive = {-base.factor, op_term(Op::neg, dtype, terms_[base.core].shape, {ScaledTerm{1, base.core}})};
    const double factor = std::pow(positive.factor, exponent);
    if (!std::isfinite(factor) || !std::isfinite(exponent))
        return opaque(*this, Op::pow, dtype, std::array{base, ScaledTerm{exponent, one(dtype)}});
    std::vector<ScaledTerm> powers;
    append_powers(positive.core, exponent, powers);
    return {factor, product(powers, dtype)};
}

void Normalizer::append_powers(TermId core, double exponent, std::vector<ScaledTerm>& out) {
    for (const auto apply : table_->of_powers())
        if (apply(*this, core, exponent, out)) return;
    out.push_back({exponent, core});
}

void Normalizer::append_terms(const ScaledTerm& summand, std::vector<ScaledTerm>& out) {
    for (const auto apply : table_->of_summands())
        if (apply(*this, summand, out)) return;
    out.push_back(summand);
}

ScaledTerm Normalizer::add(std::span<const ScaledTerm> given, DType dtype) {
    Sum sum{given, dtype, {}};
    sum.terms.reserve(max_flattened_parts);
    for (const ScaledTerm& term : given) append_terms(term, sum.terms);
    const bool is_finite =
        std::all_of(sum.terms.begin(), sum.terms.end(), [](const ScaledTerm& t) { return std::isfinite(t.factor); });
    if (!is_finite) return opaque(*this, Op::add, dtype, given);
    for (const auto apply : table_->of_sums()) {
        if (sum.terms.size() == 1 && sum.common.empty()) return sum.terms[0];
        if (const auto form = apply(*this, sum)) return *form;
    }
    Term made = terms_.draft(TermKind::sum, dtype, joint_shape(sum.terms));
    made.parts = sum.terms;
    const ScaledTerm value{sum.scale, terms_.intern(made)};
    return sum.common.empty() ? value : multiply(value, {1, product(sum.common, dtype)});
}

std::optional<ScaledTerm> sum_of_two(Normalizer& n, const Operation& add) { return n.add(add.operands, add.dtype); }

std::optional<ScaledTerm> difference(Normalizer& n, const Operation& sub) {
    return n.add({sub.operands[0], negated(sub.operands[1])}, sub.dtype);
}

std::optional<ScaledTerm> negative(Normalizer&, const Operation& neg) { return negated(neg.operands[0]); }

std::optional<ScaledTerm> product_of_two(Normalizer& n, const Operation& mul) {
    return n.multiply(mul.operands[0], mul.operands[1]);
}

std::optional<ScaledTerm> quotient(Normalizer& n, const Operation& div) {
    return n.multiply(div.operands[0], n.power(div.operands[1], -1));
}

std::optional<ScaledTerm> square_root(Normalizer& n, const Operation& sqrt) { return n.power(sqrt.operands[0], 0.5); }

std::optional<ScaledTerm> inverse_root(Normalizer& n, const Operation& rsqrt) {
    return n.power(rsqrt.operands[0], -0.5);
}

std::optional<ScaledTerm> constant_power(Normalizer& n, const Operation& pow) {
    if (!is_number(n, pow.operands[1])) return std::nullopt;
    return n.power(pow.operands[0], pow.operands[1].factor);
}

bool flatten_sum(Normalizer& n, const ScaledTerm& summand, std::vector<ScaledTerm>& out) {
    const Term& core = n.term(summand.core);
    if (core.kind != TermKind::sum || core.parts.size() > max_flattened_parts) return false;
    for (const ScaledTerm& part : core.parts) n.append_terms({summand.factor * part.factor, part.core}, out);
    return true;
}

// The last factor that is a sum is multiplied out.
bool distribute(Normalizer& n, const ScaledTerm& summand, std::vector<ScaledTerm>& out) {
    const Term& core = n.term(summand.core);
    if (core.kind != TermKind::product) return false;
    std::size_t count = 1;
    const ScaledTerm* sum = nullptr;
    for (const ScaledTerm& part : core.parts) {
        if (part.factor != 1 || n.term(part.core).kind != TermKind::sum) continue;
        count *= n.term(part.core).parts.size();
        sum = &part;
    }
    if (sum == nullptr || count > max_flattened_parts) return false;
    std::vector<ScaledTerm> rest = list_of(core.parts);
    rest.erase(rest.begin() + (sum - core.parts.data()));
    const ScaledTerm others{summand.factor, n.product(rest, core.dtype)};
    for (const ScaledTerm& part : n.term(sum->core).parts) n.append_terms(n.multiply(others, part), out);
    return true;
}

std::optional<ScaledTerm> zero_terms(Normalizer& n, Sum& sum) {
    const auto is_zero = [&](const ScaledTerm& term) { return n.is_constant(term, 0); };
    if (!std::all_of(sum.terms.begin(), sum.terms.end(), is_zero)) std::erase_if(sum.terms, is_zero);
    return std::nullopt;
}

// Like terms are merged, but never cancelled.
std::optional<ScaledTerm> like_terms(Normalizer&, Sum& sum) {
    std::sort(sum.terms.begin(), sum.terms.end(), by_core);
    std::size_t count = 0;
    for (const ScaledTerm& term : sum.terms) {
        ScaledTerm* last = count == 0 ? nullptr : &sum.terms[count - 1];
        if (last != nullptr && last->core == term.core && (last->factor < 0) == (term.factor < 0))
            last->factor += term.factor;
        else
            sum.terms[count++] = term;
    }
    sum.terms.resize(count);
    return std::nullopt;
}

std::optional<ScaledTerm> common_factors(Normalizer& n, Sum& sum) {
    sum.common = common_powers(n, sum.terms);
    if (sum.common.empty()) return std::nullopt;
    for (ScaledTerm& term : sum.terms) {
        std::vector<ScaledTerm> rest = list_of(n.powers_of(term.core));
        for (const ScaledTerm& shared : sum.common)
            for (ScaledTerm& power : rest)
                if (power.core == shared.core &&
                    (power.factor == shared.factor || can_join(power.factor, shared.factor))) {
                    power.factor -= shared.factor;
                    break;
                }
        std::erase_if(rest, [](const ScaledTerm& power) { return power.factor == 0; });
        term.core = n.product(rest, sum.dtype);
    }
    return std::nullopt;
}

// Numbers that alone multiply a value do not cancel: 2*x - x is not x where x is infinite.
std::optional<ScaledTerm> joined_numbers(Normalizer& n, Sum& sum) {
    double positive = 0, negative = 0;
    const auto is_one = [&](const ScaledTerm& term) { return is_number(n, term); };
    for (const ScaledTerm& term : sum.terms)
        if (is_one(term)) (term.factor < 0 ? negative : positive) += term.factor;
    std::erase_if(sum.terms, is_one);
    if (sum.common.empty() || !sum.terms.empty()) positive += std::exchange(negative, 0);
    for (const double total : {positive, negative})
        if (total != 0) sum.terms.push_back({total, n.one(sum.dtype)});
    if (sum.terms.empty()) sum.terms.push_back({0, n.one(sum.dtype)});
    if (sum.terms.size() == 1) return n.multiply(sum.terms[0], {1, n.product(sum.common, sum.dtype)});
    std::sort(sum.terms.begin(), sum.terms.end(), by_core);
    return std::nullopt;
}

// Multiples of a sum share a core. Among equally large coefficients that of the oldest core is taken.
std::optional<ScaledTerm> largest_coefficient(Normalizer& n, Sum& sum) {
    ScaledTerm pivot{0, 0};
    for (const ScaledTerm& term : sum.terms)
        if (std::fabs(term.factor) > std::fabs(pivot.factor) &&
            !Normalizer::close(std::fabs(term.factor), std::fabs(pivot.factor), sum.dtype))
            pivot = term;
    if (pivot.factor == 0) return opaque(n, Op::add, sum.dtype, sum.given);
    for (ScaledTerm& term : sum.terms) term.factor /= pivot.factor;
    sum.scale = pivot.factor;
    return std::nullopt;
}

void like_factors(Normalizer&, Product& product) {
    std::vector<ScaledTerm>& powers = product.powers;
    std::size_t count = product.joined;
    for (std::size_t i = count; i < powers.size(); ++i) {
        const auto end = powers.begin() + static_cast<std::ptrdiff_t>(count);
        const auto it = std::find_if(powers.begin(), end, [&](const ScaledTerm& other) {
            return other.core == powers[i].core && can_join(other.factor, powers[i].factor);
        });
        if (it == end)
            powers[count++] = powers[i];
        else
            it->factor += powers[i].factor;
    }
    powers.resize(count);
}

bool power_of_product(Normalizer& n, TermId core, double exponent, std::vector<ScaledTerm>& out) {
    const std::span<const ScaledTerm> powers = n.powers_of(core);
    const bool is_one_power = powers.size() == 1 && powers[0].factor == 1;
    const auto whole = [](const ScaledTerm& power) { return is_whole(power.factor); };
    if (is_one_power ||
        (std::fabs(exponent) != 1 && (!is_whole(exponent) || !std::all_of(powers.begin(), powers.end(), whole))))
        return false;
    for (const ScaledTerm& power : powers) n.append_powers(power.core, power.factor * exponent, out);
    return true;
}

}  // namespace cairn::normal_form
