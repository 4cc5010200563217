#include "io/onnx_operators/tree_forest.hpp"

#include "io/onnx_operators/stored_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

namespace cairn::inline v0::onnx {
namespace {

/// Levels are unrolled; deeper trees are lists rather than trees.
constexpr std::int64_t most_levels = 256;

/// Branches on the longest way from a root to a leaf. Refuses children that do not exist.
std::int64_t levels_of(const Node& node, const Forest& forest) {
    std::set<std::int32_t> level(forest.roots.begin(), forest.roots.end());
    const auto end = forest.child_of(forest.branches.size());
    for (std::int64_t count = 0;; ++count) {
        std::set<std::int32_t> next;
        for (const std::int32_t child : level) {
            if (child < 0 || child >= end) node.refuse("a branch of its trees ends in a node that does not exist");
            if (child < forest.leaves) continue;
            const TreeBranch& branch = forest.branches[static_cast<std::size_t>(child - forest.leaves)];
            next.insert({branch.on_true, branch.on_false});
        }
        if (next.empty()) return count;
        if (count == most_levels) node.refuse(fmt::format("its trees have more than {} levels", most_levels));
        level = std::move(next);
    }
}

/// The lists of a forest, an element for each child. Leaves are their own children.
class ForestLists {
public:
    ForestLists(Node& node, const Forest& forest, DType dtype) : node_(node), forest_(forest) {
        feature = integers("features", [](const TreeBranch& branch) { return branch.feature; });
        on_true = integers(
            "on_true", [](const TreeBranch& branch) { return branch.on_true; }, true);
        on_false = integers(
            "on_false", [](const TreeBranch& branch) { return branch.on_false; }, true);
        std::vector<double> splits(static_cast<std::size_t>(forest.leaves), 0);
        for (const TreeBranch& branch : forest.branches) {
            splits.push_back(branch.split);
            uses[static_cast<std::size_t>(branch.mode)] = true;
            minds_missing = minds_missing || branch.missing_is_true || branch.mode == TreeMode::neq;
        }
        const auto size = static_cast<std::int64_t>(splits.size());
        split = stored_floats(node, "splits", {size}, splits, dtype);
        if (std::ranges::count(uses, true) > 1)
            mode = integers("modes", [](const TreeBranch& branch) { return static_cast<std::int32_t>(branch.mode); });
        if (minds_missing)
            missing = integers("missing", [](const TreeBranch& branch) { return branch.missing_is_true ? 1 : 0; });
    }

    Tensor feature, split, on_true, on_false, mode, missing;  ///< the last two may be empty
    std::array<bool, 6> uses{};                               ///< modes of the branches
    bool minds_missing = false;                               ///< NaN is more than an element that compares as false

private:
    template <typename Of>
    Tensor integers(std::string_view part, Of of, bool are_children = false) {
        std::vector<std::int32_t> elements;
        for (std::int32_t leaf = 0; leaf < forest_.leaves; ++leaf) elements.push_back(are_children ? leaf : 0);
        for (const TreeBranch& branch : forest_.branches) elements.push_back(of(branch));
        const auto size = static_cast<std::int64_t>(elements.size());
        return stored_integers(node_, part, {size}, elements);
    }

    Node& node_;
    const Forest& forest_;
};

Tensor compared(TreeMode mode, const Tensor& x, const Tensor& split) {
    switch (mode) {
        case TreeMode::leq: return x <= split;
        case TreeMode::lt: return x < split;
        case TreeMode::gte: return x >= split;
        case TreeMode::gt: return x > split;
        case TreeMode::eq: return x == split;
        case TreeMode::neq: break;
    }
    return x != split;
}

/// True where the children of true are next, for the nodes `at` [N, trees] and their features x.
Tensor takes_true(const ForestLists& lists, const Tensor& at, const Tensor& x) {
    const Tensor split = gather(lists.split, at, 0);
    std::optional<Tensor> result;
    for (std::size_t i = 0; i < lists.uses.size(); ++i) {
        if (!lists.uses[i]) continue;
        const Tensor one = compared(static_cast<TreeMode>(i), x, split);
        result = result.has_value() ? where(gather(lists.mode, at, 0) == i, one, *result) : one;
    }
    return lists.minds_missing ? where(x != x, gather(lists.missing, at, 0) != 0, *result) : *result;
}

}  // namespace

std::int32_t feature_number(const Node& node, std::int64_t number) {
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max())
        node.refuse(fmt::format("a node of its trees has the feature {}", number));
    return static_cast<std::int32_t>(number);
}

std::vector<double> leaf_table(const Node& node, const Forest& forest, std::int64_t columns) {
    constexpr std::int64_t most = std::int64_t{1} << 28;
    if (columns < 1 || columns > most || columns * forest.leaves > most)
        node.refuse(fmt::format("it has {} values for each of {} leaves", columns, forest.leaves));
    return std::vector<double>(static_cast<std::size_t>(columns * forest.leaves), 0);
}

Tensor reached_leaves(Node& node, const Forest& forest, const Tensor& rows) {
    const auto trees = static_cast<std::int64_t>(forest.roots.size());
    if (trees == 0) node.refuse("it has no trees");
    const Tensor roots = stored_integers(node, "roots", {trees}, forest.roots);
    Tensor at = broadcast(roots, {rows.dim(0), trees});
    const std::int64_t levels = levels_of(node, forest);
    if (levels == 0) return at;
    const ForestLists lists(node, forest, rows.dtype());
    for (std::int64_t level = 0; level < levels; ++level) {
        const Tensor x = take_along_axis(rows, gather(lists.feature, at, 0), 1);
        at = where(takes_true(lists, at, x), gather(lists.on_true, at, 0), gather(lists.on_false, at, 0));
    }
    return at;
}

Tensor aggregated(const Tensor& values, TreeAggregation aggregation) {
    switch (aggregation) {
        case TreeAggregation::min: return min_reduce(values, 1);
        case TreeAggregation::max: return max_reduce(values, 1);
        case TreeAggregation::sum: return sum(values, 1);
        case TreeAggregation::average: break;
    }
    return mean(values, 1);
}

}  // namespace cairn::inline v0::onnx
