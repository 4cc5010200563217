#pragma once

#include "graph/ir/graph_data.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Rewrite rules of the simplifier: each makes a graph smaller or simpler without changing any value beyond rounding.
/// simplify() applies the rows to a fixed point. A rewrite that pays only sometimes is not a rule: rewrite/alternatives
/// adds its result as an equivalent expression, and the selection decides by time.
///
/// Rules keep the semantics of floats (docs/numbers.md): a law that fails for NaN, an infinity or the sign of a zero is
/// applied only where those are proved absent (`x + 0`, `0 - x`, `x * 0`, `x - x` hold for integers, not for floats).
/// Exceptions: `log(exp(x)) = x` gives the exact value where the left side overflows, and the sign of a zero that
/// results from a sum or a maximum is unspecified.
namespace cairn::simplify {

/// The graph under construction, and helpers with which a rule builds its replacement (rewriter.hpp).
class Rewriter;

/// The effect of a rule on the rounding of floats.
enum class Rounding : std::uint8_t {
    exact,    ///< none: equal bits, except of NaN
    rounded,  ///< both sides are within the rounding of their ops of the real value
};
/// `exact` or `rounded`.
std::string_view to_string(Rounding rounding) noexcept;

/// One rewrite rule. A law that holds for several ops has one row for each of them, all with the same name.
///
///     {"neg_both", "neg(a) * neg(b) -> a * b", "likewise / of floats", Rounding::exact, ir::Op::mul, neg_both}
struct Rule {
    std::string_view name;   ///< used to disable the rule, and in dumps
    std::string_view law;    ///< "before -> after", for docs/laws.md
    std::string_view where;  ///< conditions on dtypes, sizes and operands; empty: everywhere
    Rounding rounding;       ///< of the law
    ir::Op root;             ///< op of the nodes the rule is tried on
    /// Returns the replacement of node `id` of the new graph, or nothing if the rule does not apply. It may make new
    /// nodes through the Rewriter. The replacement has the dtype and shape of `id`, and is simpler by some measure that
    /// no rule increases, so that rewriting terminates.
    std::optional<ir::NodeId> (*apply)(Rewriter& rewriter, ir::NodeId id);
};

/// The rules of each family, in the order they are tried.
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

/// Rules grouped by their root op; within an op in the order they are tried.
class RuleTable {
public:
    explicit RuleTable(std::vector<Rule> rules);

    std::span<const Rule> of(ir::Op op) const {
        const auto at = static_cast<std::size_t>(op);
        return {rules_.data() + begins_[at], rules_.data() + begins_[at + 1]};
    }

private:
    std::vector<Rule> rules_;
    std::vector<std::size_t> begins_;  // index of each op's first rule
};

}  // namespace cairn::simplify
