#pragma once

#include "cairn/features.hpp"
#include "cairn/units.hpp"

#include <array>
#include <optional>

namespace cairn::inline v0 {

/// Properties of a unit that are known without measuring.
struct UnitInfo {
    Unit unit;
    std::string_view name;
    Arithmetic arithmetic;
    FeatureSet needs;
    double per_cycle;  ///< typical operations per cycle of a core; a multiply-add counts as two
};

/// One row per unit, in the order of Unit.
extern const std::array<UnitInfo, unit_count> unit_table;

/// A unit's index in arrays by unit.
constexpr std::size_t index_of(Unit unit) noexcept { return static_cast<std::size_t>(unit); }

/// A unit's row.
inline const UnitInfo& row_of(Unit unit) noexcept { return unit_table[index_of(unit)]; }

/// The unit on which code that requires these features does such arithmetic: the fastest of those that the features
/// include. Empty if there is none; f32 always has one.
///
///     i8, avx2+avx512   ->   i8_avx512
std::optional<Unit> unit_of(Arithmetic arithmetic, FeatureSet needs) noexcept;

}  // namespace cairn::inline v0
