#pragma once

#include "io/onnx_node/node.hpp"

#include <cstdint>
#include <vector>

/// Decision trees whose nodes are kept in lists: all trees are walked at once, a level at a time.
namespace cairn::inline v0::onnx {

/// The comparison of a feature with the split of a node, in the numbering of TreeEnsemble.
enum class TreeMode : std::uint8_t { leq, lt, gte, gt, eq, neq };

/// A node with two branches. A child below the number of leaves is a leaf, else branch `child - leaves`.
struct TreeBranch {
    TreeMode mode = TreeMode::leq;
    std::int32_t feature = 0;
    double split = 0;
    bool missing_is_true = false;  ///< NaN takes the branch of true
    std::int32_t on_true = 0, on_false = 0;
};

struct Forest {
    std::int32_t leaves = 0;
    std::vector<TreeBranch> branches;
    std::vector<std::int32_t> roots;  ///< numbered as children

    /// The child number of a branch.
    std::int32_t child_of(std::size_t branch) const { return leaves + static_cast<std::int32_t>(branch); }
};

/// The number of a feature; refuses what is none.
std::int32_t feature_number(const Node& node, std::int64_t number);
/// A table of `columns` values for each leaf, filled with zeros; refuses one that is too large.
std::vector<double> leaf_table(const Node& node, const Forest& forest, std::int64_t columns);
/// The leaves that rows [N, F] of f32 or f64 end in: i32 [N, trees].
Tensor reached_leaves(Node& node, const Forest& forest, const Tensor& rows);

/// How the values of the leaves of all trees become one.
enum class TreeAggregation : std::uint8_t { average, sum, min, max };
/// Values of leaves [N, trees, C] as [N, C].
Tensor aggregated(const Tensor& values, TreeAggregation aggregation);

void make_tree_ensemble(Node& node);

}  // namespace cairn::inline v0::onnx
