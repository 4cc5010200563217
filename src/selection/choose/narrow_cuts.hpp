#pragma once

#include "selection/choose/producers.hpp"

#include <cstddef>
#include <stop_token>
#include <vector>

/// Where little of a program is needed at once.
namespace cairn::selection {

/// The places in the order of goals that fewest goals are needed across, or a few more, and the end. What is kept of a
/// weight is not parted from its first user; where nothing new is kept from one place to the next, the narrower stays.
std::vector<std::size_t> narrow_cuts(const Bucket& bucket, Producers& producers);

/// Which values may be copied between devices, by their first spelling: those needed across the borders of a program
/// that fewest are needed across, if these are no more than `max_cut_width`; outputs; and what a copy_to makes. A
/// copy of any other value is not looked for: with copies of all, the exact search has millions of states, with these
/// some thousands. The bucket's devices are the CPU alone when this is asked.
std::vector<bool> transferable_values(const Bucket& bucket, const std::stop_token& stop = {});
inline constexpr int max_cut_width = 4;

}  // namespace cairn::selection
