#include "search/marginals.hpp"

#include "search/cheapest.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

/// A cost, and what is counted besides.
struct Sums {
    Exact cost = 0;
    Amounts amounts = {};
    friend Sums operator+(Sums a, const Sums& b) {
        a.cost += b.cost;
        for (std::size_t i = 0; i < a.amounts.size(); ++i) a.amounts[i] += b.amounts[i];
        return a;
    }
};

/// Goes through what a set is made of, from the highest set down: all that completes a set is known when its turn
/// comes.
class Marginals {
public:
    Marginals(const Problem& problem, const Space& space, Set set, std::span<const Amounts> amounts)
        : space_(space),
          cheapest_(space, set),
          inside_(static_cast<std::size_t>(set) + 1),
          outside_(static_cast<std::size_t>(set) + 1),
          whole_(static_cast<std::size_t>(problem.alternatives())) {
        for (Set s = Space::done + 1; s <= set; ++s) go_up(s, amounts);
        reach(set, {});
        go_down(-1);
        // A renamed set holds no further renaming: each is gone through once for every name it stands under.
        for (const auto& [renaming, parts] : renamed_) {
            for (const auto& [part, outside] : parts) reach(part, *outside);
            go_down(renaming);
        }
    }

    /// Of the cheapest path with a choice.
    const std::optional<Sums>& whole(int choice) const { return whole_[static_cast<std::size_t>(choice)]; }
    const Cheapest& costs() const { return cheapest_; }

private:
    static void lower(std::optional<Sums>& known, const Sums& sums) {
        if (!known || sums.cost < known->cost) known = sums;
    }

    const Sums& inside(Set set) const { return inside_[static_cast<std::size_t>(set)]; }

    /// The cheapest path of a set, from those of what it is made of.
    void go_up(Set set, std::span<const Amounts> amounts) {
        std::optional<Sums> least;
        for (int p = space_.first_product(set); p >= 0; p = space_.product_at(p).next)
            lower(least, inside(space_.product_at(p).first) + inside(space_.product_at(p).second));
        Sums& sums = inside_[static_cast<std::size_t>(set)];
        if (least) sums = *least;
        sums.cost = cheapest_.cost(set);
        if (const int choice = space_.choice_of(set); choice >= 0 && !amounts.empty())
            sums.amounts = amounts[static_cast<std::size_t>(choice)];
    }

    void reach(Set set, const Sums& outside) {
        if (set == Space::done) return;
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
            const Set set = open_.back();
            open_.pop_back();
            const Sums outside = *std::exchange(outside_[static_cast<std::size_t>(set)], std::nullopt);
            if (const int choice = space_.choice_of(set); choice >= 0)
                lower(whole_[static_cast<std::size_t>(space_.renamed(choice, renaming))], outside + inside(set));
            for (int p = space_.first_product(set); p >= 0; p = space_.product_at(p).next) {
                const Space::Product& product = space_.product_at(p);
                reach(product.first, outside + inside(product.second));
                if (product.renamed < 0)
                    reach(product.second, outside + inside(product.first));
                else
                    lower(renamed_[product.renamed][product.second], outside + inside(product.first));
            }
        }
    }

    const Space& space_;
    Cheapest cheapest_;
    std::vector<Sums> inside_;                  // of each set's cheapest path
    std::vector<std::optional<Sums>> outside_;  // of sets whose turn is to come
    std::vector<Set> open_;                     // these: a heap, the highest on top
    std::map<int, std::map<Set, std::optional<Sums>>> renamed_;
    std::vector<std::optional<Sums>> whole_;
};

}  // namespace

std::vector<std::optional<Marginal>> marginals(const Problem& problem, const Space& space, Set set,
                                               std::span<const int> path, std::span<const Amounts> amounts) {
    const Marginals found(problem, space, set, amounts);
    Exact own = 0;
    for (const int choice : path) own += found.costs().exact(problem.cost(choice));
    std::vector<std::optional<Marginal>> all(static_cast<std::size_t>(problem.alternatives()));
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        if (const std::optional<Sums>& whole = found.whole(choice))
            all[static_cast<std::size_t>(choice)] = {found.costs().rounded(whole->cost - own), whole->amounts};
    return all;
}

}  // namespace cairn::search
