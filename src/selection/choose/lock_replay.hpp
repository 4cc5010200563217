#pragma once

#include "program/lock.hpp"
#include "selection/choose/select.hpp"

#include <span>

/// Selections as a lock records them.
namespace cairn::selection {

/// The kernel calls of a selection, in its order.
program::CoverSteps steps_of(const Selection& selection);

/// The selections that steps record, one list for each bucket: nothing is searched and no cost is compared. The memory
/// of states is put on `states`. Throws Error(unsupported) naming a step that none of the bucket's candidates is, a
/// value that no step computes, or a kernel that cannot prepare its Problem; Cancelled on a stop.
Selections replay_lock(std::span<const Bucket> buckets, std::span<const program::CoverSteps* const> steps,
                       Device states, const Options& options = {});

}  // namespace cairn::selection
