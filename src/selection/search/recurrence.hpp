#pragma once

#include "selection/search/region.hpp"
#include "selection/search/repeated_blocks.hpp"
#include "selection/search/search_state.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

/// Where a chain of regions comes to a border just as it came to the one a block above.
namespace cairn::search {

/// Notes the regions and borders that a chain passes, from the highest down.
class Recurrence {
public:
    /// Both must outlive this object.
    Recurrence(const PresolvedProblem& presolved, const RepeatedBlocks& repeat);

    /// A region of a form, which was solved as that of another one, or as its own.
    void pass(const RegionForm& form, const RegionForm& solved);

    /// At the border below the region passed last, with these states, ascending, below so many stretches. What is
    /// crossed between it and the border a block above is a block that may be crossed any number of times more: all
    /// blocks below it are to follow, the one above it has been crossed in equal regions, from the same states to the
    /// same states. Then how many stretches lie above the border a block above; else nothing.
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
    std::vector<int> roots_;  // of the problem as given, ascending
    std::vector<PassedRegion> passed_;
    std::map<int, BorderStates> borders_;  // by the goal that lies above, as given
};

}  // namespace cairn::search
