#pragma once

#include "program/lock.hpp"
#include "selection/choose/select.hpp"

#include <span>

/// Converts selections to the steps of a lock and back.
namespace cairn::selection {

/// The kernel calls of a selection, in its order.
program::CoverSteps steps_of(const Selection& selection);

/// The selections that steps record, one list of steps for each bucket, without search or comparison of costs. The
/// memory of states is on `states`. Throws Error(unsupported) naming a step that no candidate of the bucket matches, a
/// value that no step computes, or a kernel that cannot prepare its problem; Cancelled on a stop.
Selections replay_lock(std::span<const Bucket> buckets, std::span<const program::CoverSteps* const> steps,
                       Device states, const Options& options = {});

}  // namespace cairn::selection
