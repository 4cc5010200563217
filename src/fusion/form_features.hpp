#pragma once

#include "rewrite/normal_form/layout_insensitive_hash.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// What can be seen of a form without descending into the ops that stay whole: enough to tell most nodes that no
/// pattern can match, and most values that are no operand.
///
///     gamma * (x - m) * (v + eps)^-0.5 + beta    features: sum (of m and v) and ^-0.5; places: gamma in a product in a
///     sum, beta in a sum
namespace cairn::fusion {

using normal_form::Normalizer, normal_form::TermId, normal_form::NormalForms, normal_form::ScaledTerm,
    normal_form::LayoutInsensitiveHash, normal_form::Term, normal_form::TermKind;

/// A bit for each op that computes and for each power -1, -0.5 and 0.5 of something computed. What is put in place of a
/// leaf takes none away. Made once for each core, parts first: they are older than what is made of them.
class FormFeatures {
public:
    explicit FormFeatures(const Normalizer& normalizer) : normalizer_(normalizer) {}
    std::uint64_t of(TermId core);

private:
    std::uint64_t made_of(const Term& term) const;

    const Normalizer& normalizer_;
    std::vector<std::uint64_t> features_;
};

/// What a bit behind those of the ops stands for: `x^-0.5`.
std::string feature_name(std::size_t bit);

/// Where a core stands: the sums and products that hold it, outermost first.
struct TermPosition {
    TermId core;
    std::uint32_t path;
    friend bool operator==(const TermPosition&, const TermPosition&) = default;
};
std::vector<TermPosition> term_positions(const Normalizer& normalizer, TermId core);

}  // namespace cairn::fusion
