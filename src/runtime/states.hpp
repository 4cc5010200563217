#pragma once

#include "runtime/instance.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Declares user access to the states of an instance: show, set contents, reset.
namespace cairn::runtime {

/// New contents of one state.
struct StateContents {
    std::size_t state = 0;              ///< index in Instance::states
    const std::byte* data = nullptr;    ///< dense
    std::vector<std::int64_t> shape{};  ///< of the live part
};

/// Index of the state of that name. Throws Error(argument), reported by `part`.
std::size_t find_state(const Instance& instance, std::string_view name, std::string_view part);

/// The shape of the live part, at the sizes set.
std::vector<std::int64_t> live_shape(const Instance& instance, std::size_t state);

/// The live part as it is now. Throws Error(argument) if a size of it is not set, or if a failed run has overwritten a
/// part.
OutputView show_state(Instance& instance, std::size_t state, std::string_view part);

/// Checks new contents of states: returns the faults in words, empty if there are none. All are checked together: sizes
/// that occur in several must agree.
std::string contents_fault(const Instance& instance, const std::vector<StateContents>& contents);

/// Sets the contents of states. Requires that contents_fault() finds no fault. Values that a narrower dtype cannot hold
/// make all buckets fall back to states of the declared dtype. Throws Error(memory), before any change, when the system
/// has no more.
void set_contents(Instance& instance, const std::vector<StateContents>& contents);

/// Resets all states to those of a new instance.
void reset_states(Instance& instance);

}  // namespace cairn::runtime
