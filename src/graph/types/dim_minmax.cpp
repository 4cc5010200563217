#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/types/dim_inequality.hpp"
#include "graph/types/dim_table.hpp"

namespace cairn::inline v0 {

namespace detail {

namespace {

constexpr std::size_t max_operands = 16;

using MinMaxOperands = std::vector<Polynomial>;

AtomKind opposite(AtomKind kind) { return kind == AtomKind::min ? AtomKind::max : AtomKind::min; }

// The one term of `a` that is a min or max of the same kind, or a subtracted one of the other kind; null if there is
// none or more than one.
const Term* inner_min_max(const Polynomial& a, AtomKind kind) {
    const Term* found = nullptr;
    for (const auto& term : a.terms) {
        if (term.factors.size() != 1) continue;
        if (term.factors[0]->kind != (term.coefficient > 0 ? kind : opposite(kind))) continue;
        if (found != nullptr) return nullptr;
        found = &term;
    }
    return found;
}

// min(1 + min(a, b), c) = min(1 + a, 1 + b, c)
MinMaxOperands flattened(AtomKind kind, const MinMaxOperands& choices) {
    MinMaxOperands result;
    for (const auto& choice : choices) {
        const Term* term = inner_min_max(choice, kind);
        if (term == nullptr || choices.size() + term->factors[0]->args.size() > max_operands) {
            result.push_back(choice);
            continue;
        }
        const Polynomial rest = subtract(choice, {{*term}});
        for (const auto& arg : term->factors[0]->args) result.push_back(add(rest, scale(arg, term->coefficient)));
    }
    return result;
}

MinMaxOperands without_dominated(AtomKind kind, MinMaxOperands choices) {
    std::sort(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return compare(a, b) < 0; });
    choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
    for (std::size_t i = 0; i < choices.size();) {
        const bool dominated = std::any_of(choices.begin(), choices.end(), [&](const Polynomial& other) {
            if (&other == &choices[i]) return false;
            const auto gain = kind == AtomKind::min ? subtract(choices[i], other) : subtract(other, choices[i]);
            return provably_nonnegative(gain);
        });
        if (dominated) {
            choices.erase(choices.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            ++i;
        }
    }
    return choices;
}

// Removes and returns the common part of all operands: equal terms, and the smallest constant term.
Polynomial extract_common(MinMaxOperands& choices) {
    std::int64_t least = choices[0].constant_term();
    for (const auto& choice : choices) least = std::min(least, choice.constant_term());
    Polynomial common = Polynomial::constant(least);
    for (const auto& term : choices[0].terms) {
        if (term.factors.empty()) continue;
        const bool everywhere = std::all_of(choices.begin(), choices.end(), [&](const Polynomial& choice) {
            return std::find(choice.terms.begin(), choice.terms.end(), term) != choice.terms.end();
        });
        if (everywhere) common = add(common, {{term}});
    }
    for (auto& choice : choices) choice = subtract(choice, common);
    return common;
}

std::int64_t extract_gcd(MinMaxOperands& choices) {
    std::int64_t shared = 0;
    for (const auto& choice : choices) {
        for (const auto& term : choice.terms) {
            if (term.coefficient == INT64_MIN) return 1;
            shared = std::gcd(shared, term.coefficient);
        }
    }
    for (auto& choice : choices) {
        for (auto& term : choice.terms) term.coefficient /= shared;
    }
    return shared;
}

Polynomial build_min_max(DimTable& table, AtomKind kind, MinMaxOperands choices) {
    for (MinMaxOperands flat = flattened(kind, choices); flat != choices; flat = flattened(kind, choices))
        choices = flat;
    choices = without_dominated(kind, std::move(choices));
    if (choices.size() == 1) return choices[0];
    const Polynomial common = extract_common(choices);
    const std::int64_t factor = extract_gcd(choices);
    std::sort(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return compare(a, b) < 0; });
    return add(common, scale(Polynomial::atom(table.function(kind, std::move(choices))), factor));
}

Dim apply(std::string_view operation, AtomKind kind, const Dim& a, const Dim& b) {
    return without_overflow(operation, a, b, [&]() -> Dim {
        const auto table = DimTable::shared(a, b);
        return DimTable::dim(
            *table, build_min_max(DimTable::of(*table), kind, {DimTable::polynomial(a), DimTable::polynomial(b)}));
    });
}

}  // namespace

}  // namespace detail

Dim min(const Dim& a, const Dim& b) {
    if (a.is_constant() && b.is_constant()) return std::min(a.constant(), b.constant());
    return detail::apply("min", detail::AtomKind::min, a, b);
}

Dim max(const Dim& a, const Dim& b) {
    if (a.is_constant() && b.is_constant()) return std::max(a.constant(), b.constant());
    return detail::apply("max", detail::AtomKind::max, a, b);
}

}  // namespace cairn::inline v0
