#pragma once

#include "search/space.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory_resource>
#include <vector>

/// Which ways to reach a goal have to be kept while a problem is made smaller.
namespace cairn::search {

using Goals = std::pmr::vector<int>;  // ascending

bool holds(const Goals& goals, int goal);

/// A way to reach a goal.
struct Option {
    double cost;
    Goals needs, provides;
    Set set;
    std::uint64_t marks = 0;  ///< a bit for each need, some needs sharing one; none before it is asked for
};

/// An option that may stand among those of a goal: one that has stood there before, or one of a lower goal put into
/// such a one, which is done when its turn comes.
struct Entrant {
    std::size_t place;
    double cost;
    Option* option;
    const Option* lower;
    bool stood_before;
};

/// How lower options are put into others: in the place of which goal, and whether into themselves or into copies.
struct Joining {
    int goal = -1;
    bool in_place = false;
    std::size_t most = std::numeric_limits<std::size_t>::max();  ///< that may be left
    std::deque<Option> made = {};
};

/// Judges options. Where one of the cheapest paths is enough, an option goes where another one costs no more, needs no
/// other goals and provides the same, and of equal ones the first stays; but not where a goal that it alone needs may
/// bring others with it. Else options that need and provide the same become one, which has the paths of all of them.
class Keeper {
public:
    /// `brings` tells of each goal whether it, or something below it, may provide further goals. It and the space must
    /// outlive this object.
    Keeper(Space& space, bool only_cheapest, const std::vector<bool>& brings)
        : space_(space), only_cheapest_(only_cheapest), brings_(brings) {}

    /// Leaves the options that there have to be, in the order of their places. False where too many are left.
    bool keep(std::vector<Entrant>& entrants, Joining& joining);
    /// Goals looked at so far.
    std::size_t work() const noexcept { return work_; }

private:
    bool beats(Option& one, Option& other);
    bool keep_unbeaten(std::vector<Entrant>& entrants, Joining& joining);
    bool keep_different(std::vector<Entrant>& entrants, Joining& joining);
    bool brings(int goal) const { return brings_[static_cast<std::size_t>(goal)]; }

    Space& space_;
    bool only_cheapest_;
    const std::vector<bool>& brings_;
    std::size_t work_ = 0;
};

/// The options of entrants that are kept.
std::vector<Option> taken(const std::vector<Entrant>& entrants);

}  // namespace cairn::search
