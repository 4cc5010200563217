#pragma once

#include "graph/ir/graph_data.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Always-good rewrites: each makes a graph smaller or plainer without changing any value beyond rounding. Rules are
/// rows; simplify() applies them to a fixed point. What pays only sometimes is not here but a candidate in select.
///
/// Floats are taken at their word (docs/numbers.md): a law that fails for NaN, an infinity or the sign of a zero is
/// used only where those are proved absent (`x + 0`, `0 - x`, `x * 0`, `x - x` hold for integers, not for floats). The
/// exceptions: `log(exp(x)) = x` gives the exact value where the detour overflows, and the sign of a zero that comes
/// out of sums and maxima is not told.
namespace cairn::simplify {

/// The graph under construction and helpers a rule builds its replacement with (rewriter.hpp).
class Rewriter;

/// One rewrite. A law that holds for several ops has one row for each of them, under one name.
///
///     {"neg_neg", "neg(neg(x)) = x", ir::Op::neg, [](Rewriter& r, ir::NodeId n) -> std::optional<ir::NodeId> {...}}
struct Rule {
    std::string_view name;  ///< to switch it off, and in dumps
    std::string_view law;   ///< before = after, for readers
    ir::Op root;            ///< the op of the nodes it looks at
    /// The replacement of node `id` of the new graph, or nothing where the rule does not apply. It may make new nodes
    /// through the Rewriter. The replacement has the dtype and shape of `id`, and is plainer by some measure that no
    /// rule raises, so that rewriting ends.
    std::optional<ir::NodeId> (*apply)(Rewriter& rewriter, ir::NodeId id);
};

/// The rows of each family, in the order they are tried.
std::span<const Rule> algebra_rules();    ///< + - * / neg abs
std::span<const Rule> power_rules();      ///< pow sqrt rsqrt exp log floor cos
std::span<const Rule> logic_rules();      ///< comparisons, logic, where, min, max
std::span<const Rule> reduction_rules();  ///< sum max_reduce argmax
std::span<const Rule> movement_rules();   ///< reshape transpose broadcast
std::span<const Rule> slicing_rules();    ///< slice pad concat gather window
std::span<const Rule> constant_rules();   ///< folding
std::span<const Rule> cast_rules();       ///< cast copy_to

/// All families, in the order they are tried.
std::vector<Rule> all_rules();

/// Rules by the op that they look at, each op's in the order they are tried.
class RuleTable {
public:
    explicit RuleTable(std::vector<Rule> rules);

    std::span<const Rule> of(ir::Op op) const {
        const auto at = static_cast<std::size_t>(op);
        return {rules_.data() + begins_[at], rules_.data() + begins_[at + 1]};
    }

private:
    std::vector<Rule> rules_;
    std::vector<std::size_t> begins_;  // of each op
};

}  // namespace cairn::simplify
