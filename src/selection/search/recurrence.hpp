#pragma once

#include "selection/search/region.hpp"
#include "selection/search/repeated_blocks.hpp"
#include "selection/search/search_state.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

/// Recurrence: detects that a chain of regions reaches a border in the same states as at the border one block above.
namespace cairn::search {

/// Records the regions and borders of a chain, from the highest down.
class Recurrence {
public:
    /// Both must outlive this object.
    Recurrence(const PresolvedProblem& presolved, const RepeatedBlocks& repeat);

    /// Records a region and the form that was solved for it, its own or an equal one.
    void pass(const RegionForm& form, const RegionForm& solved);

    /// Records the border below the last region, with its states (ascending) and the number of segments above it.
    /// Returns the number of segments above the border one block higher if the block between the two may be crossed any
    /// number of times: a whole block follows below, the block above was crossed in equal regions, and the states at
    /// both borders are equal. Otherwise empty.
    std::optional<std::size_t> at(int border, const std::vector<State>& states, std::size_t segments);

private:
    struct PassedRegion {
        const RegionForm* solved;
        std::vector<int> ports, choices;
    };
    struct BorderStates {
        std::size_t regions, segments;
        std::vector<State> states;
    };

    bool is_above(const PassedRegion& above, const PassedRegion& below) const;
    bool has_same_roots(int low) const;
    bool are_above(const std::vector<State>& above, const std::vector<State>& states) const;
    int counterpart_above(int goal) const;

    const PresolvedProblem& presolved_;
    const RepeatedBlocks& repeat_;
    std::vector<int> roots_;  // of the original problem, ascending
    std::vector<PassedRegion> passed_;
    std::map<int, BorderStates> borders_;  // by the goal above the border, in the original problem
};

}  // namespace cairn::search
