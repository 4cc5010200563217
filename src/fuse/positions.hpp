#pragma once

#include "canon/canon.hpp"

#include <optional>
#include <vector>

namespace cairn::inline v0::fuse {

/// A comparison of positions as the normal form has it: 0 <= positions + offset.
///
///     rows > columns - 4    0 <= rows - columns + 3    not rows - columns < -3    positions rows - columns, offset 3
struct Comparison {
    std::vector<canon::Scaled> positions;
    Dim offset = 0;

    /// What has to be added to the offset to make it that of another comparison of the same positions, if these are the
    /// same and it is a number.
    std::optional<double> distance_to(const Comparison& other) const;
};

/// The comparison that a form is, if any.
std::optional<Comparison> comparison_of(const canon::Canon& canon, canon::CanonId core);

}  // namespace cairn::inline v0::fuse
