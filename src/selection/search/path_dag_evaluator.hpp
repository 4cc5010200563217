#pragma once

#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

/// The same paths at other costs.
namespace cairn::search {

/// All paths of a set, to be asked again and again where choices cost something else each time: in as many steps as the
/// set has parts that can differ in cost, and without a search. Costs are sums of doubles.
///
///     goal 1: (0) or ()   goal 0: ()   root 1      at {goal 0: 2, 5, 9}   ->   7    above: 0, 0, 2
///                                                  at {goal 0: 6, 5, 9}   ->   9    above: 2, 2, 0
///
/// Choices of one kind cost the same each time. Then parts that are made alike of choices of equal kinds do so too and
/// are one: equal layers whose choices are of the same kinds are asked once, and so are equal runs of them.
class PathDagEvaluator {
public:
    /// The set must be one of all paths, not of the cheapest alone. Of each choice its kind; none told: each is of its
    /// own, by its number.
    PathDagEvaluator(std::shared_ptr<const PathDag> dag, PathSet set, std::span<const int> cost_classes = {});
    PathDagEvaluator(PathDag dag, PathSet set, std::span<const int> cost_classes = {})
        : PathDagEvaluator(std::make_shared<const PathDag>(std::move(dag)), set, cost_classes) {}

    /// Of the cheapest path, each choice costing what stands at its kind; infinite where there is no path.
    double cheapest(std::span<const double> costs);
    /// Its choices, ascending, at the costs told last.
    std::vector<int> path() const;
    /// How many choices it has of each of so many kinds.
    std::vector<int> choice_counts(std::size_t cost_classes) const;
    /// Of each of so many kinds, what the cheapest path with a choice of it costs more than the cheapest of all, at the
    /// costs told last; infinite where no path has one.
    std::vector<double> reduced_costs(std::size_t cost_classes) const;
    /// How many parts differ.
    std::size_t size() const noexcept { return nodes_.size(); }

private:
    /// A choice, or else a sum of products.
    struct Node {
        int cost_class = -1;
        std::size_t end = 0;  // of its products, which begin where those of the part before end
    };
    struct Product {
        std::size_t first, second;
        friend bool operator==(const Product&, const Product&) = default;
    };
    /// Sets under one name, ascending, and the part that each is.
    struct NameScope {
        std::vector<PathSet> sets;
        std::vector<std::size_t> nodes;
        std::vector<std::size_t> places = {};  // the same by set, where these are most of the space
        std::size_t node_of(PathSet set) const;
    };
    using Renaming = int;

    template <typename CostClassOf>
    void add_nodes(NameScope& named, const CostClassOf& cost_class_of);
    std::size_t add_choice(int cost_class);
    std::size_t add_sum(std::span<const Product> made_of);
    const NameScope& scope_of(const PathDag::Product& product, const NameScope& among) const;
    std::size_t begin(std::size_t node) const { return node == 0 ? 0 : nodes_[node - 1].end; }
    double cost(const Product& product) const { return costs_[product.first] + costs_[product.second]; }

    std::shared_ptr<const PathDag> dag_;
    PathSet set_;
    std::vector<Node> nodes_;  // those of a product come before the sum; the first: one path, without a choice
    std::vector<Product> products_;
    std::unordered_map<int, std::size_t> choices_;             // the part that a choice of each kind is
    std::unordered_multimap<std::size_t, std::size_t> alike_;  // sums by a hash of what they are made of
    NameScope own_;
    std::vector<NameScope> named_;
    std::vector<std::size_t> names_;  // of each renaming: which of these
    std::size_t whole_ = 0;
    // At the costs told last, of each part: of its cheapest path, and the product that has it.
    std::vector<double> costs_;
    std::vector<std::size_t> best_;
};

}  // namespace cairn::search
