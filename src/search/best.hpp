#pragma once

#include "search/space.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

/// Paths in the order of their costs, one after the other.
namespace cairn::search {

/// The paths of a set, the cheapest first, found as they are asked for.
///
///     BestFirst paths(space, set);
///     while (paths.next()) use(paths.path(paths.found() - 1));
///
/// Of a product of two sets the next pair after (i, j) is (i + 1, j) or (i, j + 1): each sum keeps those that may be
/// next, and asks its sets for more of theirs when it must (Huang & Chiang, "Better k-best parsing", 2005). Products
/// share no choice and sums no path, so the order is exact and no path comes twice.
class BestFirst {
public:
    /// The space must outlive this object.
    BestFirst(const Space& space, Set set);

    /// The cost of the next path; nothing when all have been given.
    std::optional<double> next();
    std::size_t found() const;
    /// One that has been given: 0 is the cheapest.
    Path path(std::size_t number) const;

private:
    /// Path i of a product's first set with path j of its second.
    struct Pair {
        double cost;
        int product;
        std::size_t i, j;
        /// As a heap has it: the cheapest on top, of equal ones the first.
        bool operator<(const Pair& other) const noexcept;
    };
    struct Paths {
        std::vector<Pair> found;       // in their order
        std::vector<Pair> candidates;  // a heap
        std::vector<Pair> following;   // candidates once the paths they are made of are known
        bool begun = false, ended = false;
    };

    bool is_single(Set set) const { return set == Space::done || space_->choice_of(set) >= 0; }
    Paths& paths_of(Set set);
    bool has(Set set, std::size_t number);
    bool ended(Set set);
    double cost(Set set, std::size_t number);
    void find_next(Set set);
    bool settle(Paths& paths);

    const Space* space_;
    Set set_;
    std::vector<int> place_;  // of each set: its paths, once they are asked for
    std::deque<Paths> paths_;
    std::vector<Set> open_;
};

}  // namespace cairn::search
