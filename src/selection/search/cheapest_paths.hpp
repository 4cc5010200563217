#pragma once

#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Costs as whole numbers, so that sums are exact however they are put together; and of paths that cost the same the
/// one that comes first.
namespace cairn::search {

/// A cost, in units of a Cheapest: so small that the dearest path has 125 binary digits. Sums of doubles depend on
/// their order in the last digits; sums of these do not.
__extension__ using ExactCost = __int128;

/// What one path has and another one lacks, `choice << 1`, and what it lacks, `choice << 1 | 1`, ascending.
using PathDifference = std::vector<std::uint32_t>;
using PathDifferenceView = std::span<const std::uint32_t>;

/// Whether a path comes before another one: the greatest of all choices that only one of the two has is not its own.
/// Both are given by their differences from one third path.
bool comes_before(PathDifferenceView a, PathDifferenceView b) noexcept;

/// Of each set that `set` is made of the cheapest path; of equal costs the first by comes_before().
class CheapestPaths {
public:
    /// The space must outlive this object.
    CheapestPaths(const PathDag& dag, PathSet set);

    ExactCost cost(PathSet set) const { return costs_[static_cast<std::size_t>(set)]; }
    /// Of the product's cheapest path.
    ExactCost cost(const PathDag::Product& product) const { return cost(product.first) + cost(product.second); }
    /// The product of a sum that has it.
    int product(PathSet set);
    /// Its choices, ascending.
    std::vector<int> choices(PathSet set);
    /// What the cheapest path of one product has and that of another lacks, and the reverse. Takes no longer than it
    /// takes to tell where they differ: what both are made of is not looked into.
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
    int unit_ = 0;  // costs count in 2^-unit_
    std::vector<ExactCost> costs_;
    std::vector<int> products_;  // of each sum, once it has been asked for
};

}  // namespace cairn::search
