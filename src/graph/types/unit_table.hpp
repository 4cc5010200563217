#pragma once

#include "cairn/features.hpp"
#include "cairn/units.hpp"

#include <array>
#include <optional>

namespace cairn::inline v0 {

/// What is known of a unit without measuring.
struct UnitInfo {
    Unit unit;
    std::string_view name;
    Arithmetic arithmetic;
    FeatureSet needs;
    double per_cycle;  ///< operations of a core, as a rule; a multiply-add counts two
};

/// Of every unit, in the order of Unit.
extern const std::array<UnitInfo, unit_count> unit_table;

/// A unit's place in arrays by unit.
constexpr std::size_t index_of(Unit unit) noexcept { return static_cast<std::size_t>(unit); }

/// A unit's row.
inline const UnitInfo& row_of(Unit unit) noexcept { return unit_table[index_of(unit)]; }

/// Where code that needs these does such arithmetic: on the unit that does most of those it has. Nothing where it has
/// none; for f32 there is always one.
///
///     i8, avx2+avx512   ->   i8_avx512
std::optional<Unit> unit_of(Arithmetic arithmetic, FeatureSet needs) noexcept;

}  // namespace cairn::inline v0
