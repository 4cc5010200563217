#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cairn::ir {

/// Bounds of index inputs. For each input of a Problem of constant sizes that the definition uses as indices of gather,
/// scatter or take_along_axis, directly or through views: the length of the indexed axis. Legal values are
/// 0 .. limit - 1.
///
///     embedding | f32[50,8] i32[3]   ->   {none, 50}
///
/// Throws what the definition throws if it rejects the Problem.
std::vector<std::optional<std::int64_t>> index_limits(const Problem& problem, std::span<const Definition> definitions);

}  // namespace cairn::ir
