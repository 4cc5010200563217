#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <optional>
#include <vector>

namespace cairn::fusion {

/// A comparison of positions in normal form: 0 <= positions + offset.
///
///     rows > columns - 4    0 <= rows - columns + 3    not rows - columns < -3    positions rows - columns, offset 3
struct PositionComparison {
    std::vector<normal_form::ScaledTerm> positions;
    Dim offset = 0;

    /// The number that must be added to the offset to get that of `other`; nothing if the positions differ or the
    /// distance is not a number.
    std::optional<double> distance_to(const PositionComparison& other) const;
};

/// The comparison of positions that a form is, if any.
std::optional<PositionComparison> comparison_of(const normal_form::Normalizer& normalizer, normal_form::TermId core);

}  // namespace cairn::fusion
