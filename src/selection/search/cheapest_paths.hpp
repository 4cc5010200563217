#pragma once

#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Exact costs: fixed-point numbers, so that sums do not depend on their order; and the first of the paths that cost
/// the same.
namespace cairn::search {

/// A cost in units of a CheapestPaths, which are chosen so that the most expensive path has 125 binary digits. The last
/// digits of a sum of doubles depend on its order; sums of these do not.
__extension__ using ExactCost = __int128;

/// The difference of two paths: choices that one has and the other lacks, `choice << 1`, and choices that it lacks,
/// `choice << 1 | 1`, ascending.
using PathDifference = std::vector<std::uint32_t>;
using PathDifferenceView = std::span<const std::uint32_t>;

/// True if path `a` precedes path `b` in the order of paths with equal costs: the largest choice that only one of the
/// two has is not its own. Both are given as differences from the same third path.
bool comes_before(PathDifferenceView a, PathDifferenceView b) noexcept;

/// The cheapest path of each set below `set`; of equal costs the first by comes_before().
class CheapestPaths {
public:
    /// The DAG must outlive this object.
    CheapestPaths(const PathDag& dag, PathSet set);

    ExactCost cost(PathSet set) const { return costs_[static_cast<std::size_t>(set)]; }
    /// Of the product's cheapest path.
    ExactCost cost(const PathDag::Product& product) const { return cost(product.first) + cost(product.second); }
    /// The product of a sum that has the sum's cheapest path.
    int product(PathSet set);
    /// The choices of that path, ascending.
    std::vector<int> choices(PathSet set);
    /// The difference of the cheapest paths of two products. Takes no longer than finding where they differ: sets that
    /// both contain are not visited.
    PathDifference difference(int product, int other);
    /// The cost as a double, and back.
    double rounded(ExactCost cost) const;
    ExactCost exact(double cost) const;

private:
    int& known(PathSet set) { return products_[static_cast<std::size_t>(set)]; }
    void find_unit(const std::vector<bool>& is_part);
    void settle(PathSet set);
    PathDifference settled_difference(int product, int other) const;
    template <typename Visit>
    void for_each_cheapest(PathSet set, const Visit& visit) const;

    const PathDag* dag_;
    PathSet set_;
    int unit_ = 0;  // unit of costs: 2^-unit_
    std::vector<ExactCost> costs_;
    std::vector<int> products_;  // of each sum, once settled
};

}  // namespace cairn::search
