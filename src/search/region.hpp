#pragma once

#include "search/pending.hpp"
#include "search/reduce.hpp"
#include "search/space.hpp"

#include <cstddef>
#include <map>
#include <memory_resource>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

/// A run of consecutive goals, solved on its own: from the goals pending when the search enters it to the goals pending
/// below it when it leaves.
namespace cairn::search {

/// What all regions of a search share.
struct Limits {
    std::size_t states = 0;  ///< looked at so far
    std::size_t state_limit = 0;
    bool exact = true;  ///< false: something was left out, since it would have been too much work
    std::stop_token stop = {};
};

/// The work of an exact search, in pending goals of all states looked at: what any small problem may take, and so much
/// for each of its goals.
inline constexpr std::size_t small_work = std::size_t{1} << 22, goal_work = 1024;

/// What a state takes beside its goals.
inline constexpr std::size_t state_work = 16;
/// How many of so many states with so many pending goals in all are followed where that has become too much work.
std::size_t width_of(std::size_t states, std::size_t goals);

/// Goals [low, high) seen from inside. Two regions with equal signatures differ in the numbers of their goals and
/// choices only.
struct RegionForm {
    int low = 0, high = 0;
    std::vector<int> ports;    ///< the goals below `low` that it names, in the order of their first mention
    std::vector<int> choices;  ///< those its sets are made of, likewise
    std::u32string signature;
};

RegionForm form_of(const Reduced& reduced, const Space& space, int low, int high);

/// Ways through a region: all that leave the same goals pending.
struct Exit {
    State ports;  ///< pending below, each goal by its place among the ports
    Set set = Space::none;
    double cost = 0;  ///< of the cheapest of them
};

/// All regions of one form share one solver; solutions are kept for each set of goals it was entered with.
class RegionSolver {
public:
    RegionSolver(const Reduced& reduced, Space& space, RegionForm form);

    const RegionForm& form() const noexcept { return form_; }
    /// The ways to each reachable exit, the cheapest first, for goals pending inside, each by its place in the region.
    /// With more states than the limit or more work than the region's size allows only the cheapest are followed.
    /// Incomplete on a stop.
    const std::vector<Exit>& solve(const State& inside, Limits& limits);

private:
    /// States that have the same goal next, in the order they were first reached. They are many for a short while:
    /// they lie in a pool, and letting go of them is quick.
    class Layer {
    public:
        /// True where the state is new.
        bool reach(StateView state, Space& space, Set first, Set second);
        struct Entry {
            StateView state;
            Space::Sum sum;
        };
        std::pmr::vector<Entry>& entries() noexcept { return held_->entries; }
        void clear() { held_.reset(); }

    private:
        struct Held {
            Held() : entries(&pool), index(&pool) {}
            std::pmr::monotonic_buffer_resource pool;
            std::pmr::vector<Entry> entries;
            std::pmr::unordered_map<StateView, std::size_t> index;
        };
        std::optional<Held> held_{std::in_place};
    };
    /// What is pending on entry is so in all states until its turn comes, unless it is provided: they do not hold it.
    struct Pass {
        Pass(const State& inside, int low, std::size_t goals);
        std::size_t layer_of(StateView state, std::size_t above) const;

        int low;
        std::vector<bool> entered;               // goals pending on entry
        std::vector<std::size_t> entered_below;  // the layer of the next of them below each layer
        std::vector<Layer> layers;               // 0: the exits; i + 1: those with goal low + i next
        std::size_t work = 0;
    };
    void narrow(Pass& pass, Layer& layer, Limits& limits) const;
    void expand(Pass& pass, std::size_t number, Limits& limits);
    std::vector<Exit> exits_of(Pass& pass);

    const Reduced* reduced_;
    Space* space_;
    RegionForm form_;
    Steps steps_;
    std::unordered_map<int, int> port_of_;
    std::map<State, std::vector<Exit>> solved_;
    State next_;  // scratch
};

}  // namespace cairn::search
