#include "selection/search/min_marginals.hpp"

#include "selection/search/cheapest_paths.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

/// A cost with its amounts.
struct Sums {
    ExactCost cost = 0;
    Amounts amounts = {};
    friend Sums operator+(Sums a, const Sums& b) {
        a.cost += b.cost;
        for (std::size_t i = 0; i < a.amounts.size(); ++i) a.amounts[i] += b.amounts[i];
        return a;
    }
};

/// Inside-outside pass over a path DAG. Sets are visited from the highest down: the outside cost of a set is final when
/// it is visited.
class MinMarginals {
public:
    MinMarginals(const SearchProblem& problem, const PathDag& dag, PathSet set, std::span<const Amounts> amounts)
        : dag_(dag),
          cheapest_(dag, set),
          inside_(static_cast<std::size_t>(set) + 1),
          outside_(static_cast<std::size_t>(set) + 1),
          whole_(static_cast<std::size_t>(problem.alternatives())) {
        for (PathSet s = PathDag::empty_path + 1; s <= set; ++s) go_up(s, amounts);
        reach(set, {});
        go_down(-1);
        // A renamed set contains no further renaming: each is visited once for every renaming that applies to it.
        for (const auto& [renaming, parts] : renamed_) {
            for (const auto& [part, outside] : parts) reach(part, *outside);
            go_down(renaming);
        }
    }

    /// Of the cheapest path with a choice.
    const std::optional<Sums>& whole(int choice) const { return whole_[static_cast<std::size_t>(choice)]; }
    const CheapestPaths& costs() const { return cheapest_; }

private:
    static void lower(std::optional<Sums>& known, const Sums& sums) {
        if (!known || sums.cost < known->cost) known = sums;
    }

    const Sums& inside(PathSet set) const { return inside_[static_cast<std::size_t>(set)]; }

    /// Inside pass: the cheapest path of a set, from those of its products.
    void go_up(PathSet set, std::span<const Amounts> amounts) {
        std::optional<Sums> least;
        for (int p = dag_.first_product(set); p >= 0; p = dag_.product_at(p).next)
            lower(least, inside(dag_.product_at(p).first) + inside(dag_.product_at(p).second));
        Sums& sums = inside_[static_cast<std::size_t>(set)];
        if (least) sums = *least;
        sums.cost = cheapest_.cost(set);
        if (const int choice = dag_.choice_of(set); choice >= 0 && !amounts.empty())
            sums.amounts = amounts[static_cast<std::size_t>(choice)];
    }

    void reach(PathSet set, const Sums& outside) {
        if (set == PathDag::empty_path) return;
        std::optional<Sums>& known = outside_[static_cast<std::size_t>(set)];
        if (!known) {
            open_.push_back(set);
            std::push_heap(open_.begin(), open_.end());
        }
        lower(known, outside);
    }

    void go_down(int renaming) {
        while (!open_.empty()) {
            std::pop_heap(open_.begin(), open_.end());
            const PathSet set = open_.back();
            open_.pop_back();
            const Sums outside = *std::exchange(outside_[static_cast<std::size_t>(set)], std::nullopt);
            if (const int choice = dag_.choice_of(set); choice >= 0)
                lower(whole_[static_cast<std::size_t>(dag_.renamed(choice, renaming))], outside + inside(set));
            for (int p = dag_.first_product(set); p >= 0; p = dag_.product_at(p).next) {
                const PathDag::Product& product = dag_.product_at(p);
                reach(product.first, outside + inside(product.second));
                if (product.renamed < 0)
                    reach(product.second, outside + inside(product.first));
                else
                    lower(renamed_[product.renamed][product.second], outside + inside(product.first));
            }
        }
    }

    const PathDag& dag_;
    CheapestPaths cheapest_;
    std::vector<Sums> inside_;                  // of each set's cheapest path
    std::vector<std::optional<Sums>> outside_;  // of sets still to be visited
    std::vector<PathSet> open_;                 // these sets, as a heap with the highest on top
    std::map<int, std::map<PathSet, std::optional<Sums>>> renamed_;
    std::vector<std::optional<Sums>> whole_;
};

}  // namespace

std::vector<std::optional<MinMarginal>> min_marginals(const SearchProblem& problem, const PathDag& dag, PathSet set,
                                                      std::span<const int> path, std::span<const Amounts> amounts) {
    const MinMarginals found(problem, dag, set, amounts);
    ExactCost own = 0;
    for (const int choice : path) own += found.costs().exact(problem.cost(choice));
    std::vector<std::optional<MinMarginal>> all(static_cast<std::size_t>(problem.alternatives()));
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        if (const std::optional<Sums>& whole = found.whole(choice))
            all[static_cast<std::size_t>(choice)] = {found.costs().rounded(whole->cost - own), whole->amounts};
    return all;
}

}  // namespace cairn::search
