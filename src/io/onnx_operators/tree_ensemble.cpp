#include "io/onnx_operators/ml_scores.hpp"
#include "io/onnx_operators/stored_array.hpp"
#include "io/onnx_operators/tree_forest.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

/// TreeEnsemble, whose leaves are in lists of their own.
namespace cairn::inline v0::onnx {
namespace {

constexpr double set_membership_mode = 6;

/// A required attribute that is a tensor of numbers.
std::vector<double> tensor_numbers(const Node& node, std::string_view name) {
    const TensorProto* const tensor = node.tensor_attribute(name);
    if (tensor == nullptr) node.refuse(fmt::format("its attribute {} is missing", name));
    return numbers_of(node, *tensor);
}

/// The sets of membership_values, in the order of the nodes that test them; NaN ends a set.
std::vector<std::vector<double>> membership_sets(const Node& node) {
    std::vector<std::vector<double>> sets;
    if (node.tensor_attribute("membership_values") == nullptr) return sets;
    sets.emplace_back();
    for (const double value : tensor_numbers(node, "membership_values"))
        if (std::isnan(value))
            sets.emplace_back();
        else
            sets.back().push_back(value);
    for (std::vector<double>& set : sets) {
        std::ranges::sort(set);
        set.erase(std::unique(set.begin(), set.end()), set.end());
    }
    return sets;
}

/// Writes branch `at` as a search for the feature in sorted values, adding the branches that it needs.
void search_set(Forest& forest, std::size_t at, const TreeBranch& found, std::span<const double> values) {
    TreeBranch branch = found;
    if (values.size() == 1) {
        branch.mode = TreeMode::eq;
        branch.split = values[0];
        forest.branches[at] = branch;
        return;
    }
    const std::size_t half = values.size() / 2, below = forest.branches.size();
    branch.mode = TreeMode::lt;
    branch.split = values[half];
    branch.on_true = forest.child_of(below);
    branch.on_false = forest.child_of(below + 1);
    forest.branches[at] = branch;
    forest.branches.resize(below + 2);
    search_set(forest, below, found, values.first(half));
    search_set(forest, below + 1, found, values.subspan(half));
}

Forest forest_of(const Node& node) {
    const std::vector<double> modes = tensor_numbers(node, "nodes_modes"),
                              splits = tensor_numbers(node, "nodes_splits");
    const std::vector<std::int64_t> features = node.integers("nodes_featureids"),
                                    on_true = node.integers("nodes_truenodeids"),
                                    on_false = node.integers("nodes_falsenodeids"),
                                    true_leaves = node.integers("nodes_trueleafs"),
                                    false_leaves = node.integers("nodes_falseleafs");
    std::vector<std::int64_t> missing = node.integers("nodes_missing_value_tracks_true");
    const std::size_t count = modes.size();
    if (missing.empty()) missing.assign(count, 0);
    for (const std::size_t size : {splits.size(), features.size(), on_true.size(), on_false.size(), true_leaves.size(),
                                   false_leaves.size(), missing.size()})
        if (size != count) node.refuse("its lists of nodes differ in length");
    Forest forest;
    forest.leaves = static_cast<std::int32_t>(node.integers("leaf_targetids").size());
    const auto child = [&](std::int64_t is_leaf, std::int64_t number) {
        const std::int64_t end = is_leaf != 0 ? forest.leaves : static_cast<std::int64_t>(count);
        if (number < 0 || number >= end) node.refuse("a branch of its trees ends in a node that does not exist");
        return is_leaf != 0 ? static_cast<std::int32_t>(number) : forest.child_of(static_cast<std::size_t>(number));
    };
    for (const std::int64_t root : node.integers("tree_roots")) forest.roots.push_back(child(0, root));
    forest.branches.resize(count);
    const std::vector<std::vector<double>> sets = membership_sets(node);
    std::size_t next_set = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const TreeBranch branch{
            TreeMode::leq,   feature_number(node, features[i]), splits[i],
            missing[i] != 0, child(true_leaves[i], on_true[i]), child(false_leaves[i], on_false[i])};
        forest.branches[i] = branch;
        if (modes[i] == set_membership_mode) {
            if (next_set == sets.size() || sets[next_set].empty())
                node.refuse("a node of its trees tests an empty set of values");
            search_set(forest, i, branch, sets[next_set++]);
        } else if (modes[i] >= 0 && modes[i] < set_membership_mode) {
            forest.branches[i].mode = static_cast<TreeMode>(static_cast<int>(modes[i]));
        } else {
            node.refuse(fmt::format("a node of its trees has the mode {}", modes[i]));
        }
    }
    return forest;
}

}  // namespace

void make_tree_ensemble(Node& node) {
    const Tensor x = node.tensor(0);
    if (x.rank() != 2) node.refuse(fmt::format("its input has rank {}", x.rank()));
    const Tensor rows = float_of(x);
    const Forest forest = forest_of(node);
    const std::vector<std::int64_t> targets = node.integers("leaf_targetids");
    const std::vector<double> weights = tensor_numbers(node, "leaf_weights");
    if (weights.size() != targets.size()) node.refuse("its lists of leaves differ in length");
    const std::int64_t count = node.integer("n_targets", 1), by = node.integer("aggregate_function", 1);
    if (by < 0 || by > 3) node.refuse(fmt::format("its aggregate_function is {}", by));
    const auto aggregation = static_cast<TreeAggregation>(by);
    if (by >= static_cast<std::int64_t>(TreeAggregation::min) && count != 1)
        node.refuse("the least or greatest of leaves without a value is not specified");
    std::vector<double> table = leaf_table(node, forest, count);
    for (std::size_t leaf = 0; leaf < targets.size(); ++leaf) {
        if (targets[leaf] < 0 || targets[leaf] >= count)
            node.refuse(fmt::format("a leaf has the target {} of {}", targets[leaf], count));
        table[leaf * static_cast<std::size_t>(count) + static_cast<std::size_t>(targets[leaf])] = weights[leaf];
    }
    const std::vector<std::int64_t> dims{forest.leaves, count};
    const Tensor leaves = stored_floats(node, "leaves", dims, table, rows.dtype());
    const Tensor scores = aggregated(gather(leaves, reached_leaves(node, forest, rows), 0), aggregation);
    constexpr std::array<std::string_view, 5> transforms{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    const std::int64_t transform = node.integer("post_transform", 0);
    if (transform < 0 || transform > 4) node.refuse(fmt::format("its post_transform is {}", transform));
    if (count == 1 && transform != 0) node.refuse("it transforms a single score, which is not specified");
    node.set(0, as_dtype(transformed_scores(node, scores, transforms[static_cast<std::size_t>(transform)]), x.dtype()));
}

}  // namespace cairn::inline v0::onnx
