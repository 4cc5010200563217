#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <optional>
#include <vector>

namespace cairn::fusion {

/// A comparison of positions as the normal form has it: 0 <= positions + offset.
///
///     rows > columns - 4    0 <= rows - columns + 3    not rows - columns < -3    positions rows - columns, offset 3
struct PositionComparison {
    std::vector<normal_form::ScaledTerm> positions;
    Dim offset = 0;

    /// What has to be added to the offset to make it that of another comparison of the same positions, if these are the
    /// same and it is a number.
    std::optional<double> distance_to(const PositionComparison& other) const;
};

/// The comparison that a form is, if any.
std::optional<PositionComparison> comparison_of(const normal_form::Normalizer& normalizer, normal_form::TermId core);

}  // namespace cairn::fusion
