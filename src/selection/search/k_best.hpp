#pragma once

#include "selection/search/cheapest_paths.hpp"
#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <vector>

/// k-best enumeration: paths in ascending order of cost.
namespace cairn::search {

/// The paths of a set in ascending cost, found lazily. Paths of equal cost are ordered by their choices from the last
/// one on, {1, 2} before {0, 9}: the one with the lower choice at the highest goal that they decide differently comes
/// first. Costs are added exactly, so the order depends on the problem alone, neither on the machine nor on the
/// structure of the set.
///
///     KBestPaths paths(dag, set);
///     while (paths.next()) use(paths.path(paths.found() - 1));
///
/// In a product of two sets, the successors of the pair (i, j) are (i + 1, j) and (i, j + 1). Each sum keeps a heap of
/// candidates and asks its sets for further paths on demand (Huang & Chiang, "Better k-best parsing", 2005). The sets
/// of a product share no choice (decomposable) and the products of a sum no path (deterministic), so the order is exact
/// and no path is repeated. Each path is stored as its difference from the first one: few choices, however long the
/// paths are.
class KBestPaths {
public:
    /// The DAG must outlive this object.
    KBestPaths(const PathDag& dag, PathSet set);

    /// The cost of the next path; empty after the last.
    std::optional<double> next();
    std::size_t found() const noexcept { return found_; }
    /// A path already returned; 0 is the cheapest.
    Path path(std::size_t number) const;

private:
    struct Base {
        int product;
        PathDifferenceView difference;  // from the set's cheapest path to the product's
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
        /// Heap order: the first path on top.
        bool operator<(const Found& other) const noexcept {
            return cost != other.cost ? cost > other.cost : comes_before(other.difference, difference);
        }
    };
    struct Paths {
        std::vector<Found> found;       // in order; the cheapest is known without being here
        std::vector<Found> candidates;  // heap
        std::vector<Pair> successors;   // become candidates once the paths that they combine are known
        std::vector<Base> products;     // of each product
        bool is_started = false, is_exhausted = false;
    };

    Paths& paths_of(PathSet set);
    bool is_found(PathSet set, std::size_t number);
    bool is_exhausted(PathSet set);
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
    std::vector<int> index_;  // by set: index of its paths, once requested
    std::deque<Paths> paths_;
    std::pmr::monotonic_buffer_resource pool_;  // of differences
    std::vector<PathSet> open_;
    PathDifference both_, whole_;  // scratch
};

}  // namespace cairn::search
