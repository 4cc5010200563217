#pragma once

#include "select/frontier.hpp"

#include <vector>

/// What can be decided before the search: goals that one goal alone rests on, and alternatives that another one beats
/// everywhere.
namespace cairn::inline v0::select {

/// A smaller problem with the same optimum.
class Reduction {
public:
    SearchProblem problem;
    std::size_t work = 0;  ///< goals looked at to find it, in alternatives and to compare them

    /// Enters into `choice` what an alternative of the smaller problem stands for in the given one.
    void decide(int goal, int alternative, std::vector<int>& choice) const;

private:
    friend class Reducer;
    /// One decision, or two others together.
    struct Decision {
        int goal, alternative;
        int first = -1, second = -1;
    };
    std::vector<Decision> decisions_;
    std::vector<std::vector<int>> starts_;  // per goal and alternative: where its decisions start
};

/// Which goals can be reached at all: by an alternative of their own, or as what one of a higher goal provides, whose
/// needs can be reached. (Two goals may each be within reach and yet not both at once.)
std::vector<bool> reachable_goals(const SearchProblem& problem);

/// Takes goal v into its user u where no other goal needs v, no tile provides it and it is no root:
///
///     alternatives(u) = { a without v } + { a + b : a needs v, b in alternatives(v) }
///
/// and drops an alternative where another of the same goal costs no more, needs no other goals and provides the same.
/// Both keep the optimum: v is made for u alone, and exchanging the dropped alternative makes no set of choices dearer.
/// (Not so where a goal it alone needs could bring others with it: that alternative stays.) Alternatives that rest on
/// something out of reach are left out. Throws Error(unsupported) naming a root that cannot be reached.
Reduction reduce(const SearchProblem& problem, const std::stop_token& stop = {});

}  // namespace cairn::inline v0::select
