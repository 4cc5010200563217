#include "io/onnx_operators/ml_scores.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/stored_array.hpp"
#include "io/onnx_operators/tree_forest.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

/// TreeEnsembleRegressor and TreeEnsembleClassifier, whose nodes and leaves are in one list.
namespace cairn::inline v0::onnx {
namespace {

/// Number of a tree and of a node in it.
using TreePlace = std::pair<std::int64_t, std::int64_t>;

/// An attribute of floats, or its form as a tensor.
std::vector<double> tree_numbers(const Node& node, const std::string& name) {
    const TensorProto* const tensor = node.tensor_attribute(name + "_as_tensor");
    return tensor != nullptr ? numbers_of(node, *tensor) : node.reals(name);
}

/// True if an attribute is a tensor of f64.
bool has_doubles(const Node& node, const std::string& name) {
    const TensorProto* const tensor = node.tensor_attribute(name + "_as_tensor");
    return tensor != nullptr && tensor->type == ElementType::f64;
}

TreeMode mode_named(const Node& node, const std::string& name) {
    constexpr std::array<std::string_view, 6> names{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                    "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto it = std::ranges::find(names, name);
    if (it == names.end()) node.refuse(fmt::format("a node of its trees has the mode '{}'", name));
    return static_cast<TreeMode>(it - names.begin());
}

/// The trees of the attributes nodes_*, and the leaf that each place is.
struct PlacedForest {
    Forest forest;
    std::map<TreePlace, std::int32_t> leaf_of;
};

PlacedForest placed_forest(const Node& node) {
    const std::vector<std::int64_t> trees = node.integers("nodes_treeids"), numbers = node.integers("nodes_nodeids"),
                                    features = node.integers("nodes_featureids"),
                                    on_true = node.integers("nodes_truenodeids"),
                                    on_false = node.integers("nodes_falsenodeids");
    std::vector<std::int64_t> missing = node.integers("nodes_missing_value_tracks_true");
    const std::vector<std::string> modes = node.texts("nodes_modes");
    const std::vector<double> splits = tree_numbers(node, "nodes_values");
    const std::size_t count = modes.size();
    if (missing.empty()) missing.assign(count, 0);
    for (const std::size_t size : {trees.size(), numbers.size(), features.size(), on_true.size(), on_false.size(),
                                   missing.size(), splits.size()})
        if (size != count) node.refuse("its lists of nodes differ in length");

    PlacedForest result;
    std::map<TreePlace, std::int32_t> child_of;
    std::vector<std::size_t> branches;
    for (std::size_t i = 0; i < count; ++i) {
        if (modes[i] != "LEAF")
            branches.push_back(i);
        else if (!child_of.emplace(TreePlace{trees[i], numbers[i]}, result.forest.leaves++).second)
            node.refuse("two nodes of its trees have one number");
    }
    result.leaf_of = child_of;
    for (std::size_t i = 0; i < branches.size(); ++i)
        if (!child_of.emplace(TreePlace{trees[branches[i]], numbers[branches[i]]}, result.forest.child_of(i)).second)
            node.refuse("two nodes of its trees have one number");
    const auto child = [&](std::int64_t tree, std::int64_t number) {
        const auto it = child_of.find({tree, number});
        if (it == child_of.end()) node.refuse("a branch of its trees ends in a node that does not exist");
        return it->second;
    };
    for (const std::size_t i : branches)
        result.forest.branches.push_back({mode_named(node, modes[i]), feature_number(node, features[i]), splits[i],
                                          missing[i] != 0, child(trees[i], on_true[i]), child(trees[i], on_false[i])});
    // The first node of a tree is its root.
    std::map<std::int64_t, std::int64_t> seen;
    for (std::size_t i = 0; i < count; ++i)
        if (seen.emplace(trees[i], numbers[i]).second) result.forest.roots.push_back(child(trees[i], numbers[i]));
    return result;
}

/// The attributes `class_*` or `target_*`: what leaves add to which score.
struct LeafValues {
    std::vector<double> table;  ///< [leaves, scores]
    std::vector<bool> is_given;
    std::vector<std::int64_t> ids;
    bool has_negative = false;
};

LeafValues leaf_values(const Node& node, const PlacedForest& placed, const std::string& kind, std::int64_t scores) {
    const std::vector<std::int64_t> trees = node.integers(kind + "_treeids"),
                                    numbers = node.integers(kind + "_nodeids");
    const std::vector<double> weights = tree_numbers(node, kind + "_weights");
    LeafValues values;
    values.ids = node.integers(kind + "_ids");
    if (trees.size() != weights.size() || numbers.size() != weights.size() || values.ids.size() != weights.size())
        node.refuse("its lists of leaves differ in length");
    const std::size_t columns = static_cast<std::size_t>(scores);
    values.table = leaf_table(node, placed.forest, scores);
    values.is_given.assign(values.table.size(), false);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto leaf = placed.leaf_of.find({trees[i], numbers[i]});
        if (leaf == placed.leaf_of.end()) node.refuse("a weight is not that of a leaf");
        if (values.ids[i] < 0 || values.ids[i] >= scores)
            node.refuse(fmt::format("a leaf has the score {} of {}", values.ids[i], scores));
        const std::size_t at =
            static_cast<std::size_t>(leaf->second) * columns + static_cast<std::size_t>(values.ids[i]);
        values.table[at] += weights[i];
        values.is_given[at] = true;
        values.has_negative = values.has_negative || weights[i] < 0;
    }
    return values;
}

/// Rows of features in the dtype of the computation.
Tensor tree_rows(const Node& node, const std::string& kind) {
    const Tensor rows = feature_rows(node);
    const bool is_wide = has_doubles(node, "nodes_values") || has_doubles(node, kind + "_weights");
    return is_wide ? as_dtype(rows, DType::f64) : rows;
}

/// Scores [N, scores] without base values.
Tensor tree_scores(Node& node, const PlacedForest& placed, const Tensor& rows, const LeafValues& values,
                   std::int64_t scores, TreeAggregation aggregation) {
    const bool needs_all = aggregation == TreeAggregation::min || aggregation == TreeAggregation::max;
    if (needs_all && std::ranges::find(values.is_given, false) != values.is_given.end())
        node.refuse("the least or greatest of leaves without a value is not specified");
    const std::vector<std::int64_t> dims{placed.forest.leaves, scores};
    const Tensor table = stored_floats(node, "leaves", dims, values.table, rows.dtype());
    return aggregated(gather(table, reached_leaves(node, placed.forest, rows), 0), aggregation);
}

/// Scores [N, scores] plus the attribute base_values, which may be absent.
Tensor with_base_values(Node& node, const Tensor& scores, std::int64_t count) {
    const std::vector<double> base = tree_numbers(node, "base_values");
    if (base.empty()) return scores;
    if (static_cast<std::int64_t>(base.size()) != count)
        node.refuse(fmt::format("it has {} base values for {} scores", base.size(), count));
    return scores + node.graph().constant(scores.dtype(), {count}, base);
}

void make_tree_ensemble_regressor(Node& node) {
    const std::int64_t targets = node.integer("n_targets", 1);
    const std::string transform = node.text("post_transform", "NONE"), by = node.text("aggregate_function", "SUM");
    if (targets < 1) node.refuse(fmt::format("it has {} targets", targets));
    if (targets == 1 && transform != "NONE") node.refuse("it transforms a single score, which is not specified");
    constexpr std::array<std::string_view, 4> names{"AVERAGE", "SUM", "MIN", "MAX"};
    const auto aggregation = std::ranges::find(names, by);
    if (aggregation == names.end()) node.refuse(fmt::format("its aggregate_function '{}' is unknown", by));
    const PlacedForest placed = placed_forest(node);
    const LeafValues values = leaf_values(node, placed, "target", targets);
    const Tensor scores = tree_scores(node, placed, tree_rows(node, "target"), values, targets,
                                      static_cast<TreeAggregation>(aggregation - names.begin()));
    node.set(0, as_dtype(transformed_scores(node, with_base_values(node, scores, targets), transform), DType::f32));
}

/// Two classes of which one has all the weights: scores and labels where implementations agree on them.
void set_binary_scores(Node& node, const Tensor& score, const LeafValues& values, std::string_view transform) {
    const Tensor one = with_base_values(node, score, 1);
    if (values.ids.empty() || values.ids[0] != 0) node.refuse("of its two classes only the second one has weights");
    Tensor is_second;
    if (transform == "NONE" && !values.has_negative) {
        is_second = one > 0.5;
        node.set(1, as_dtype(concat({1 - one, one}, 1), DType::f32));
    } else if (transform == "LOGISTIC" && (values.has_negative || !node.wants(0))) {
        is_second = one > 0;
        node.set(1, as_dtype(sigmoid(concat({-one, one}, 1)), DType::f32));
    } else {
        node.refuse(
            fmt::format("what the transform {} of one score means for two classes is not specified", transform));
    }
    set_labels(node, 0, cast(reshape(is_second, {one.dim(0)}), DType::i32), "classlabels_int64s",
               "classlabels_strings");
}

void make_tree_ensemble_classifier(Node& node) {
    const auto classes = static_cast<std::int64_t>(
        std::max(node.integers("classlabels_int64s").size(), node.texts("classlabels_strings").size()));
    const std::string transform = node.text("post_transform", "NONE");
    if (classes < 2) node.refuse(fmt::format("it has {} classes", classes));
    const PlacedForest placed = placed_forest(node);
    const LeafValues values = leaf_values(node, placed, "class", classes);
    const Tensor scores = tree_scores(node, placed, tree_rows(node, "class"), values, classes, TreeAggregation::sum);
    const bool has_one = std::ranges::all_of(values.ids, [&](std::int64_t id) { return id == values.ids[0]; });
    if (classes == 2 && has_one) return set_binary_scores(node, cairn::slice(scores, 1, 0, 1), values, transform);
    if (classes == 2 && (node.wants(0) || !tree_numbers(node, "base_values").empty()))
        node.refuse("which of two classes it names, if both have weights, is not specified");
    const Tensor based = with_base_values(node, scores, classes);
    if (node.wants(0)) set_labels(node, 0, argmax(based, 1), "classlabels_int64s", "classlabels_strings");
    node.set(1, as_dtype(transformed_scores(node, based, transform), DType::f32));
}

constexpr std::array<Operator, 3> ml_tree_rows{
    {{"TreeEnsembleRegressor", 1, make_tree_ensemble_regressor, nullptr, ml_domain},
     {"TreeEnsembleClassifier", 1, make_tree_ensemble_classifier, nullptr, ml_domain},
     {"TreeEnsemble", 5, make_tree_ensemble, nullptr, ml_domain}}};

}  // namespace

std::span<const Operator> ml_tree_operators() { return ml_tree_rows; }

}  // namespace cairn::inline v0::onnx
