#pragma once

#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

/// Evaluation of a path DAG at varying costs.
namespace cairn::search {

/// All paths of a set, evaluated repeatedly while the costs of choices change: linear in the number of nodes that can
/// differ in cost, and without a search. Costs are sums of doubles.
///
///     goal 1: (0) or ()   goal 0: ()   root 1      at {goal 0: 2, 5, 9}   ->   7    above: 0, 0, 2
///                                                  at {goal 0: 6, 5, 9}   ->   9    above: 2, 2, 0
///
/// Choices of one cost class always cost the same. Nodes that combine equal classes in the same way are shared (hash
/// consing): equal layers, and equal runs of them, are evaluated once.
class PathDagEvaluator {
public:
    /// The set must contain all paths, not the cheapest alone. `cost_classes` has the class of each choice; empty: each
    /// choice is a class of its own, with its number.
    PathDagEvaluator(std::shared_ptr<const PathDag> dag, PathSet set, std::span<const int> cost_classes = {});
    PathDagEvaluator(PathDag dag, PathSet set, std::span<const int> cost_classes = {})
        : PathDagEvaluator(std::make_shared<const PathDag>(std::move(dag)), set, cost_classes) {}

    /// The cost of the cheapest path, with costs by cost class; infinite if there is no path.
    double cheapest(std::span<const double> costs);
    /// The choices of that path, ascending.
    std::vector<int> path() const;
    /// The number of its choices in each cost class.
    std::vector<int> choice_counts(std::size_t cost_classes) const;
    /// For each cost class, the cost of the cheapest path with a choice of it, less that of the cheapest path, at the
    /// costs of the last cheapest(); infinite if no path has one.
    std::vector<double> reduced_costs(std::size_t cost_classes) const;
    /// Number of distinct nodes.
    std::size_t size() const noexcept { return nodes_.size(); }

private:
    /// A choice, or a sum of products.
    struct Node {
        int cost_class = -1;
        std::size_t end = 0;  // of its products; they begin at the end of the previous node's
    };
    struct Product {
        std::size_t first, second;
        friend bool operator==(const Product&, const Product&) = default;
    };
    /// The sets under one renaming, ascending, and the node of each.
    struct NameScope {
        std::vector<PathSet> sets;
        std::vector<std::size_t> nodes;
        std::vector<std::size_t> node_of_set = {};  // node by set, if these are most of the DAG
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
    std::vector<Node> nodes_;  // nodes of a product precede the sum; the first: one path without choices
    std::vector<Product> products_;
    std::unordered_map<int, std::size_t> choices_;                    // by cost class: its node
    std::unordered_multimap<std::size_t, std::size_t> sums_by_hash_;  // sums by hash of their products
    NameScope own_;
    std::vector<NameScope> named_;
    std::vector<std::size_t> names_;  // by renaming: index into `named_`
    std::size_t whole_ = 0;
    // Of each node at the last costs: the cost of its cheapest path, and the product that has it.
    std::vector<double> costs_;
    std::vector<std::size_t> best_;
};

}  // namespace cairn::search
