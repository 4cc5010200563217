#pragma once

#include "select/ways.hpp"

#include <cstddef>
#include <stop_token>
#include <vector>

/// Where little of a program is needed at once.
namespace cairn::inline v0::select {

/// The places in the order of goals that fewest goals are needed across, or a few more, and the end. What is kept of a
/// weight is not parted from its first user; where nothing new is kept from one place to the next, the narrower stays.
std::vector<std::size_t> narrow_places(const Bucket& bucket, Ways& ways);

/// Which values may be copied between devices, by their first spelling: those needed across the borders of a program
/// that fewest are needed across, if these are no more than `most_across`; outputs; and what a copy_to makes. A
/// copy of any other value is not looked for: with copies of all, the exact search has millions of states, with these
/// some thousands. The bucket's devices are the CPU alone when this is asked.
std::vector<bool> travellers(const Bucket& bucket, const std::stop_token& stop = {});
inline constexpr int most_across = 4;

}  // namespace cairn::inline v0::select
