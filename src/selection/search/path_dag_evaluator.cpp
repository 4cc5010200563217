#include "selection/search/path_dag_evaluator.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace cairn::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Collects the sets below others under one renaming.
class DescendantSets {
public:
    DescendantSets(const PathDag& dag, PathSet highest)
        : dag_(dag), seen_(static_cast<std::size_t>(std::max(highest, PathDag::empty_path)) + 1, false) {}

    /// `tops` and all sets below them, ascending, without the empty set and the empty path. Calls renamed(renaming,
    /// set) for sets under another renaming.
    template <typename Renamed>
    std::vector<PathSet> operator()(const std::vector<PathSet>& tops, const Renamed& renamed) {
        std::vector<PathSet> found;
        const auto see = [&](PathSet set) {
            if (set <= PathDag::empty_path || seen_[static_cast<std::size_t>(set)]) return;
            seen_[static_cast<std::size_t>(set)] = true;
            found.push_back(set);
        };
        for (const PathSet top : tops) see(top);
        for (std::size_t next = 0; next < found.size(); ++next)
            for (int p = dag_.first_product(found[next]); p >= 0; p = dag_.product_at(p).next) {
                const PathDag::Product& product = dag_.product_at(p);
                see(product.first);
                if (product.renamed < 0)
                    see(product.second);
                else
                    renamed(product.renamed, product.second);
            }
        std::sort(found.begin(), found.end());
        for (const PathSet set : found) seen_[static_cast<std::size_t>(set)] = false;
        return found;
    }

private:
    const PathDag& dag_;
    std::vector<bool> seen_;
};

std::size_t hash_of(std::size_t hash, std::size_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15ULL ^ hash >> 29; }

}  // namespace

std::size_t PathDagEvaluator::NameScope::node_of(PathSet set) const {
    if (set == PathDag::empty_path) return 0;
    if (!node_of_set.empty()) return node_of_set[static_cast<std::size_t>(set)];
    return nodes[static_cast<std::size_t>(std::lower_bound(sets.begin(), sets.end(), set) - sets.begin())];
}

PathDagEvaluator::PathDagEvaluator(std::shared_ptr<const PathDag> dag, PathSet set, std::span<const int> cost_classes)
    : dag_(std::move(dag)), set_(set) {
    nodes_.push_back({});
    DescendantSets below(*dag_, set_);
    std::map<Renaming, std::vector<PathSet>> renamed;
    own_.sets = below({set_}, [&](Renaming renaming, PathSet node) { renamed[renaming].push_back(node); });
    // A renamed set contains no renamed sets.
    const auto none_renamed = [](Renaming, PathSet) {};
    names_.resize(static_cast<std::size_t>(dag_->renamings()), 0);
    // Renamings that map to choices of the same cost classes give equal nodes.
    std::map<std::vector<std::pair<int, int>>, std::vector<Renaming>> alike;
    const auto cost_class_of = [&](int choice) {
        return cost_classes.empty() ? choice : cost_classes[static_cast<std::size_t>(choice)];
    };
    for (const auto& [renaming, tops] : renamed) {
        std::vector<std::pair<int, int>> names = dag_->renaming_pairs(renaming);
        for (auto& [choice, name] : names) name = cost_class_of(name);
        alike[std::move(names)].push_back(renaming);
    }
    for (const auto& [names, renamings] : alike) {
        std::vector<PathSet> tops;
        for (const Renaming renaming : renamings) {
            tops.insert(tops.end(), renamed[renaming].begin(), renamed[renaming].end());
            names_[static_cast<std::size_t>(renaming)] = named_.size();
        }
        NameScope& named = named_.emplace_back();
        named.sets = below(tops, none_renamed);
        add_nodes(named, [&](int choice) { return cost_class_of(dag_->renamed(choice, renamings.front())); });
    }
    own_.node_of_set.resize(static_cast<std::size_t>(std::max(set_, PathDag::empty_path)) + 1, 0);
    add_nodes(own_, cost_class_of);
    whole_ = set == PathDag::none ? nodes_.size() : own_.node_of(set_);
    costs_.resize(nodes_.size(), infinity);
    best_.resize(nodes_.size(), 0);
}

template <typename CostClassOf>
void PathDagEvaluator::add_nodes(NameScope& named, const CostClassOf& cost_class_of) {
    std::vector<Product> made_of;
    const auto add = [&](PathSet set, std::size_t node) {
        named.nodes.push_back(node);
        if (!named.node_of_set.empty()) named.node_of_set[static_cast<std::size_t>(set)] = node;
    };
    for (const PathSet set : named.sets) {
        if (const int choice = dag_->choice_of(set); choice >= 0) {
            add(set, add_choice(cost_class_of(choice)));
            continue;
        }
        made_of.clear();
        for (int p = dag_->first_product(set); p >= 0; p = dag_->product_at(p).next) {
            const PathDag::Product& product = dag_->product_at(p);
            made_of.push_back({named.node_of(product.first), scope_of(product, named).node_of(product.second)});
        }
        add(set, add_sum(made_of));
    }
}

/// The scope of a product's second set, for a product in the scope `among`.
const PathDagEvaluator::NameScope& PathDagEvaluator::scope_of(const PathDag::Product& product,
                                                              const NameScope& among) const {
    return product.renamed < 0 ? among : named_[names_[static_cast<std::size_t>(product.renamed)]];
}

std::size_t PathDagEvaluator::add_choice(int cost_class) {
    const auto [it, fresh] = choices_.try_emplace(cost_class, nodes_.size());
    if (fresh) nodes_.push_back({cost_class, products_.size()});
    return it->second;
}

std::size_t PathDagEvaluator::add_sum(std::span<const Product> made_of) {
    std::size_t hash = made_of.size();
    for (const Product& product : made_of) hash = hash_of(hash_of(hash, product.first), product.second);
    const auto [first, last] = sums_by_hash_.equal_range(hash);
    for (auto known = first; known != last; ++known) {
        const std::size_t node = known->second;
        if (std::ranges::equal(std::span(products_).subspan(begin(node), nodes_[node].end - begin(node)), made_of))
            return node;
    }
    products_.insert(products_.end(), made_of.begin(), made_of.end());
    nodes_.push_back({-1, products_.size()});
    sums_by_hash_.emplace(hash, nodes_.size() - 1);
    return nodes_.size() - 1;
}

double PathDagEvaluator::cheapest(std::span<const double> costs) {
    if (whole_ == nodes_.size()) return infinity;
    costs_[0] = 0;
    for (std::size_t node = 1; node < nodes_.size(); ++node) {
        if (const int cost_class = nodes_[node].cost_class; cost_class >= 0) {
            costs_[node] = costs[static_cast<std::size_t>(cost_class)];
            continue;
        }
        double least = infinity;
        for (std::size_t p = begin(node); p < nodes_[node].end; ++p)
            if (const double sum = cost(products_[p]); sum < least) least = sum, best_[node] = p;
        costs_[node] = least;
    }
    return costs_[whole_];
}

std::vector<int> PathDagEvaluator::path() const {
    struct Open {
        PathSet set;
        const NameScope* named;
        Renaming renaming;
    };
    std::vector<int> choices;
    for (std::vector<Open> open{{set_, &own_, -1}}; !open.empty();) {
        const auto [set, named, renaming] = open.back();
        open.pop_back();
        if (set <= PathDag::empty_path) continue;
        if (const int choice = dag_->choice_of(set); choice >= 0) {
            choices.push_back(dag_->renamed(choice, renaming));
            continue;
        }
        const std::size_t node = named->node_of(set);
        int number = dag_->first_product(set);
        for (std::size_t p = begin(node); p < best_[node]; ++p) number = dag_->product_at(number).next;
        const PathDag::Product& best = dag_->product_at(number);
        open.push_back({best.first, named, renaming});
        open.push_back({best.second, &scope_of(best, *named), best.renamed < 0 ? renaming : best.renamed});
    }
    std::sort(choices.begin(), choices.end());
    return choices;
}

std::vector<int> PathDagEvaluator::choice_counts(std::size_t cost_classes) const {
    std::vector<int> choice_counts(cost_classes, 0);
    if (whole_ == nodes_.size()) return choice_counts;
    std::vector<int> times(nodes_.size(), 0);
    times[whole_] = 1;
    for (std::size_t node = whole_ + 1; node-- > 1;) {
        if (times[node] == 0) continue;
        if (const int cost_class = nodes_[node].cost_class; cost_class >= 0) {
            choice_counts[static_cast<std::size_t>(cost_class)] += times[node];
            continue;
        }
        times[products_[best_[node]].first] += times[node];
        times[products_[best_[node]].second] += times[node];
    }
    return choice_counts;
}

std::vector<double> PathDagEvaluator::reduced_costs(std::size_t cost_classes) const {
    std::vector<double> reduced_costs(cost_classes, infinity);
    if (whole_ == nodes_.size()) return reduced_costs;
    // Of each node, the cost of its cheapest completion to a path of the whole.
    std::vector<double> outside(nodes_.size(), infinity);
    outside[whole_] = 0;
    for (std::size_t node = nodes_.size(); node-- > 1;) {
        if (const int cost_class = nodes_[node].cost_class; cost_class >= 0) {
            double& known = reduced_costs[static_cast<std::size_t>(cost_class)];
            known = std::min(known, std::max(0.0, outside[node] + costs_[node] - costs_[whole_]));
            continue;
        }
        for (std::size_t p = begin(node); p < nodes_[node].end; ++p) {
            const auto [first, second] = products_[p];
            outside[first] = std::min(outside[first], outside[node] + costs_[second]);
            outside[second] = std::min(outside[second], outside[node] + costs_[first]);
        }
    }
    return reduced_costs;
}

}  // namespace cairn::search
