#include "search/marginals.hpp"

#include "search/cheapest.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

/// Goes through what a set is made of, from the highest set down: all that completes a set is known when its turn
/// comes.
class Marginals {
public:
    Marginals(const Problem& problem, const Space& space, Set set)
        : space_(space),
          inside_(space, set),
          outside_(static_cast<std::size_t>(set) + 1),
          whole_(static_cast<std::size_t>(problem.alternatives())) {
        reach(set, 0);
        go_down(-1);
        // A renamed set holds no further renaming: each is gone through once for every name it stands under.
        for (const auto& [renaming, parts] : renamed_) {
            for (const auto& [part, outside] : parts) reach(part, *outside);
            go_down(renaming);
        }
    }

    /// Of the cheapest path with a choice.
    const std::optional<Exact>& whole(int choice) const { return whole_[static_cast<std::size_t>(choice)]; }
    const Cheapest& costs() const { return inside_; }

private:
    static void lower(std::optional<Exact>& known, Exact cost) {
        if (!known || cost < *known) known = cost;
    }

    void reach(Set set, Exact outside) {
        if (set == Space::done) return;
        std::optional<Exact>& known = outside_[static_cast<std::size_t>(set)];
        if (!known) {
            open_.push_back(set);
            std::push_heap(open_.begin(), open_.end());
        }
        lower(known, outside);
    }

    void go_down(int renaming) {
        while (!open_.empty()) {
            std::pop_heap(open_.begin(), open_.end());
            const Set set = open_.back();
            open_.pop_back();
            const Exact outside = *std::exchange(outside_[static_cast<std::size_t>(set)], std::nullopt);
            if (const int choice = space_.choice_of(set); choice >= 0)
                lower(whole_[static_cast<std::size_t>(space_.renamed(choice, renaming))], outside + inside_.cost(set));
            for (int p = space_.first_product(set); p >= 0; p = space_.product_at(p).next) {
                const Space::Product& product = space_.product_at(p);
                reach(product.first, outside + inside_.cost(product.second));
                if (product.renamed < 0)
                    reach(product.second, outside + inside_.cost(product.first));
                else
                    lower(renamed_[product.renamed][product.second], outside + inside_.cost(product.first));
            }
        }
    }

    const Space& space_;
    Cheapest inside_;
    std::vector<std::optional<Exact>> outside_;  // of sets whose turn is to come
    std::vector<Set> open_;                      // these: a heap, the highest on top
    std::map<int, std::map<Set, std::optional<Exact>>> renamed_;
    std::vector<std::optional<Exact>> whole_;
};

}  // namespace

std::vector<std::optional<double>> costs_above(const Problem& problem, const Space& space, Set set,
                                               std::span<const int> path) {
    const Marginals marginals(problem, space, set);
    Exact own = 0;
    for (const int choice : path) own += marginals.costs().exact(problem.cost(choice));
    std::vector<std::optional<double>> above(static_cast<std::size_t>(problem.alternatives()));
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        if (const std::optional<Exact>& whole = marginals.whole(choice))
            above[static_cast<std::size_t>(choice)] = marginals.costs().rounded(*whole - own);
    return above;
}

}  // namespace cairn::search
