#pragma once

#include "rewrite/normal_form/layout_insensitive_hash.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Features of a form that are visible without descending into opaque ops. They rule out most nodes for a pattern, and
/// most values as operands.
///
///     gamma * (x - m) * (v + eps)^-0.5 + beta    features: sum (of m and v) and ^-0.5; positions: gamma in a product
///     in a sum, beta in a sum
namespace cairn::fusion {

using normal_form::Normalizer, normal_form::TermId, normal_form::NormalForms, normal_form::ScaledTerm,
    normal_form::LayoutInsensitiveHash, normal_form::Term, normal_form::TermKind;

/// Features as bits: one for each op that computes, and for each power -1, -0.5 and 0.5 of a computed value.
/// Substituting for a leaf removes no feature. Computed once for each core; parts precede the terms that contain them.
class FormFeatures {
public:
    explicit FormFeatures(const Normalizer& normalizer) : normalizer_(normalizer) {}
    std::uint64_t of(TermId core);

private:
    std::uint64_t compute(const Term& term) const;

    const Normalizer& normalizer_;
    std::vector<std::uint64_t> features_;
};

/// The name of a bit after those of the ops: `x^-0.5`.
std::string feature_name(std::size_t bit);

/// Position of a core in a form: the sums and products that contain it, outermost first.
struct TermPosition {
    TermId core;
    std::uint32_t path;
    friend bool operator==(const TermPosition&, const TermPosition&) = default;
};
std::vector<TermPosition> term_positions(const Normalizer& normalizer, TermId core);

}  // namespace cairn::fusion
