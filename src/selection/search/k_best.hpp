#pragma once

#include "selection/search/cheapest_paths.hpp"
#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <vector>

/// Paths in the order of their costs, one after the other.
namespace cairn::search {

/// The paths of a set, the cheapest first, found as they are asked for. Paths that cost the same are in the order of
/// their choices from the last one on, {1, 2} before {0, 9}: so that one comes first which has the lower choice at the
/// highest goal that they decide differently. Costs are added exactly, so the order depends on the problem alone: not
/// on the machine, nor on how the set is made.
///
///     KBestPaths paths(space, set);
///     while (paths.next()) use(paths.path(paths.found() - 1));
///
/// Of a product of two sets the next pair after (i, j) is (i + 1, j) or (i, j + 1): each sum keeps those that may be
/// next, and asks its sets for more of theirs when it must (Huang & Chiang, "Better k-best parsing", 2005). Products
/// share no choice and sums no path, so the order is exact and no path comes twice. Each path is kept as its difference
/// from the first one: few choices, however long they are.
class KBestPaths {
public:
    /// The space must outlive this object.
    KBestPaths(const PathDag& dag, PathSet set);

    /// The cost of the next path; nothing when all have been given.
    std::optional<double> next();
    std::size_t found() const noexcept { return found_; }
    /// One that has been given: 0 is the cheapest.
    Path path(std::size_t number) const;

private:
    struct Base {
        int product;
        PathDifferenceView difference;  // of its cheapest path from that of the set
    };
    /// Path i of a product's first set with path j of its second.
    struct Pair {
        std::uint32_t base;
        std::uint32_t i, j;
    };
    struct Found {
        ExactCost cost;
        PathDifferenceView difference;  // from the cheapest path of the set
        Pair pair;
        /// As a heap has it: the first on top.
        bool operator<(const Found& other) const noexcept {
            return cost != other.cost ? cost > other.cost : comes_before(other.difference, difference);
        }
    };
    struct Paths {
        std::vector<Found> found;       // in their order; the cheapest is known without being here
        std::vector<Found> candidates;  // a heap
        std::vector<Pair> following;    // candidates once the paths they are made of are known
        std::vector<Base> bases;        // of each product
        bool begun = false, ended = false;
    };

    Paths& paths_of(PathSet set);
    bool has(PathSet set, std::size_t number);
    bool ended(PathSet set);
    ExactCost cost(PathSet set, std::size_t number);
    PathDifferenceView difference(PathSet set, std::size_t number);
    PathDifferenceView copy_to_pool(const PathDifference& difference);
    void begin(PathSet set, Paths& paths);
    void add_candidate(Paths& paths, const Pair& pair);
    bool settle(Paths& paths);
    void find_next(PathSet set);

    const PathDag* dag_;
    PathSet set_;
    CheapestPaths cheapest_;
    std::vector<int> first_;  // the choices of the cheapest path
    std::size_t found_ = 0;
    std::vector<int> place_;  // of each set: its paths, once they are asked for
    std::deque<Paths> paths_;
    std::pmr::monotonic_buffer_resource pool_;  // of differences
    std::vector<PathSet> open_;
    PathDifference both_, whole_;  // scratch
};

}  // namespace cairn::search
