#pragma once

#include "selection/choose/producers.hpp"

#include <cstddef>
#include <stop_token>
#include <vector>

/// Narrow cuts: positions in the order of goals that few goals are live across.
namespace cairn::selection {

/// The positions in the order of goals whose cut width is the smallest or slightly larger, and the end. A kept weight
/// is not separated from its first user. Of cuts with no newly kept weight between them the narrowest remains.
std::vector<std::size_t> narrow_cuts(const Bucket& bucket, Producers& producers);

/// The values that may be copied between devices, by their first expression: those live across the narrowest cuts of a
/// program, if these are no wider than `max_cut_width`; outputs; and results of copy_to. Copies of other values are not
/// considered: with copies of all values the exact search has millions of states, with these some thousands.
/// Precondition: the bucket's only device is the CPU.
std::vector<bool> transferable_values(const Bucket& bucket, const std::stop_token& stop = {});
inline constexpr int max_cut_width = 4;

}  // namespace cairn::selection
