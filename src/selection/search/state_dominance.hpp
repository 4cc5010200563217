#pragma once

#include "selection/search/search_state.hpp"
#include "selection/search/state_table.hpp"
#include "selection/search/union_find.hpp"

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

/// Dominance among the states of a layer.
namespace cairn::search {

/// Finds states that no cheapest path goes through, because another state of the layer leads to a cheaper one. Of two
/// states {g, rest} and {h, rest}, the first one's paths cost at most `extra` more, if g can be made for `extra` of
/// what the paths of the second make anyway:
///
///     g alone, of goals of the region (a weight in another form)             extra = its cheapest derivation
///     g of h, by an alternative that needs nothing else (a copy of a value)  extra = its cost
///
/// The second is dominated if it costs more than the first and `extra` together. Only what the region itself contains
/// counts, so that equal regions have equal states.
class StateDominance {
public:
    /// For goals [low, high) of a problem, which must outlive this object. After a stop no state is found dominated.
    StateDominance(const SearchProblem& problem, int low, int high, std::stop_token stop = {});

    /// Goals that one state alone needs may provide others. Ignoring that finds many more states, but not with
    /// certainty.
    enum class Provides { counted, ignored };

    /// The indices of the states that remain, ascending; of dominated ones some may be kept. States have no
    /// dependences.
    std::vector<std::size_t> undominated(std::span<const StateTable::ReachedState> states, Provides provides);

    /// The expected cost of a state's goals of the region: the sum of what each of them costs, and in each part of the
    /// region that they connect (a program) the most that the needs of one cost. Needs below the region cost nothing.
    double remaining(StateView state);

private:
    /// A derivation of a goal: of `need`, if there is one, and otherwise of goals of the region alone.
    struct Derivation {
        int need;
        double cost;
    };

    /// The expected cost of a goal, with its needs that can be made alone, and of its other needs.
    struct Remaining {
        double own = 0, below = 0;
    };

    void find_alone(const SearchProblem& problem);
    void find_derivations(const SearchProblem& problem);
    void find_remaining(const SearchProblem& problem);
    void find_key(StateView state, double most);
    bool dominates(StateView one, StateView other, double most, Provides provides) const;
    double alone(int goal) const;
    bool may_provide(int goal) const;

    int low_, high_;
    std::stop_token stop_;
    std::vector<double> alone_;                         // by goal of the region: its cheapest derivation alone
    std::vector<bool> may_provide_;                     // by goal of the region: it or what it needs
    std::vector<std::vector<Derivation>> derivations_;  // by goal of the region: of one need each, the cheapest first
    UnionFind classes_;                                 // of goals derived of each other
    std::vector<Remaining> remaining_;                  // by goal of the region
    UnionFind parts_;                                   // of goals of the region that are connected
    std::vector<double> below_of_parts_;                // scratch
    std::vector<int> touched_;                          // scratch
    State key_;
};

}  // namespace cairn::search
