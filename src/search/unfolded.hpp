#pragma once

#include "search/space.hpp"

#include <cstddef>
#include <span>
#include <vector>

/// The same paths at other costs.
namespace cairn::search {

/// All paths of a set, to be asked again and again where choices cost something else each time: in as many steps as the
/// set has parts, each counted once for every name it stands under, and without a search. Costs are sums of doubles.
///
///     goal 1: (0) or ()   goal 0: ()   root 1      at {goal 0: 2, 5, 9}   ->   7    above: 0, 0, 2
///                                                  at {goal 0: 6, 5, 9}   ->   9    above: 2, 2, 0
class Unfolded {
public:
    /// The set must be one of all paths, not of the cheapest alone.
    Unfolded(const Space& space, Set set);

    /// Of the cheapest path, each choice costing what stands at its number; infinite where there is no path.
    double cheapest(std::span<const double> costs);
    /// Its choices, ascending, at the costs told last.
    std::vector<int> path() const;
    /// Of each of so many choices, what the cheapest path with it costs more than the cheapest of all, at the costs
    /// told last; infinite where no path has it.
    std::vector<double> above(std::size_t choices) const;

private:
    /// A choice, or else a sum of products.
    struct Part {
        int choice = -1;
        std::size_t end = 0;  // of its products, which begin where those of the part before end
    };
    struct Product {
        std::size_t first, second;
    };
    std::size_t begin(std::size_t part) const { return part == 0 ? 0 : parts_[part - 1].end; }
    double cost(const Product& product) const { return costs_[product.first] + costs_[product.second]; }

    std::vector<Part> parts_;  // those of a product come before the sum; the first: one path, without a choice
    std::vector<Product> products_;
    std::size_t whole_ = 0;
    // At the costs told last, of each part: of its cheapest path, and the product that has it.
    std::vector<double> costs_;
    std::vector<std::size_t> best_;
};

}  // namespace cairn::search
