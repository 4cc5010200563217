#pragma once

#include "runtime/instance.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The states of an instance as its user reaches them: shown, given other contents, reset.
namespace cairn::runtime {

/// New contents of one state.
struct StateContents {
    std::size_t state = 0;              ///< number among the instance's states
    const std::byte* data = nullptr;    ///< dense
    std::vector<std::int64_t> shape{};  ///< of the live part
};

/// The number of the state of that name. Throws Error(argument), told by `part`.
std::size_t find_state(const Instance& instance, std::string_view name, std::string_view part);

/// The shape of the live part, at the sizes set.
std::vector<std::int64_t> live_shape(const Instance& instance, std::size_t state);

/// The live part as it is now. Throws Error(argument) while a size of it is not set, and where a failed run has
/// overwritten a part.
OutputView show_state(Instance& instance, std::size_t state, std::string_view part);

/// What keeps states from having these contents, in words; empty where nothing does. All are looked at together: sizes
/// that occur in several must agree.
std::string contents_fault(const Instance& instance, const std::vector<StateContents>& contents);

/// Gives states these contents, in which contents_fault() finds no fault. What a narrower dtype cannot hold makes all
/// buckets fall back to states as they were declared. Throws Error(memory), before it has changed anything, when the
/// system has no more.
void set_contents(Instance& instance, const std::vector<StateContents>& contents);

/// Makes all states what they are in a new instance.
void reset_states(Instance& instance);

}  // namespace cairn::runtime
