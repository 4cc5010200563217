#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/normal_form/laws.hpp"

#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace cairn::alternatives {

using normal_form::Law, normal_form::Laws;

/// E-classes of a graph: which nodes are equivalent expressions of one value. The first expression, the program's own,
/// represents the class.
///
///     %5 = matmul %0, %3                          value_of(%5) = value_of(%6) = %5
///     %6 = slice %4 (=matmul %0, concat %1, %3)   expressions(%5) = {%5, %6}  laws_of(%6) = exact
///
/// In an expanded graph every expression of a value comes before every user of any of them, so that every choice of
/// expressions is acyclic.
class EClasses {
public:
    EClasses() = default;
    /// Each node of the graph is a class of its own.
    explicit EClasses(const ir::GraphData& graph);

    /// Adds a node as a class of its own.
    void add() { value_of_.push_back(static_cast<ir::NodeId>(value_of_.size())); }

    ir::NodeId value_of(ir::NodeId node) const { return value_of_[node]; }
    /// All expressions of a value, the representative first; of a value without alternatives only itself. Valid until a
    /// node is added or joined.
    std::span<const ir::NodeId> expressions(ir::NodeId value) const;
    /// The laws on which the equality of a node with its representative rests; empty for the representative.
    Laws laws_of(ir::NodeId node) const;
    /// The laws on which any expression rests.
    Laws laws() const noexcept { return all_laws_; }
    /// True if no value has a second expression.
    bool have_one_expression_each() const noexcept { return others_.empty(); }
    /// The largest number of expressions of a value.
    std::size_t most() const noexcept { return most_; }

    /// Joins an expression, so far a class of its own, to a value.
    void join(ir::NodeId value, ir::NodeId expression, Laws laws);

    /// The rounded forms of a value: casts of it to fewer bits, or views of such casts, at most one of a dtype. A
    /// reader that widens one may read it instead of the value, at an error (accuracy::unit_roundoff). A rounded form
    /// is computed from the value, so it is not an expression of it.
    ///
    ///     %5 = cast %3 : bf16
    ///     %6 = cast %3 : f16      rounded(%3) = {%5, %6}
    std::span<const ir::NodeId> rounded(ir::NodeId value) const;
    /// True if `narrow` is a rounded form of the value.
    bool is_rounded(ir::NodeId value, ir::NodeId narrow) const;
    /// The rounded forms of all values that have any.
    const std::map<ir::NodeId, std::vector<ir::NodeId>>& all_rounded() const noexcept { return rounded_; }
    /// Adds a rounded form; does nothing if it is one already.
    void round(ir::NodeId value, ir::NodeId narrow);

private:
    std::vector<ir::NodeId> value_of_;
    std::unordered_map<ir::NodeId, std::vector<ir::NodeId>> others_;  // all expressions of values with several
    std::unordered_map<ir::NodeId, Laws> laws_;
    std::map<ir::NodeId, std::vector<ir::NodeId>> rounded_;  // by value
    Laws all_laws_;
    std::size_t most_ = 1;
};

/// The classes without the expressions that the normal form does not prove under their laws: it applies laws up to a
/// size, and it writes some values in a form that a rule does not expect (n g + g as g (n + 1)). Throws Cancelled on a
/// stop.
EClasses proved(const ir::GraphData& graph, const EClasses& classes, const std::stop_token& stop = {});

/// A description of the first fault in the classes; empty if there is none. Each expression must have the dtype and
/// shape of its value, come before every user of any expression, and have the value's normal form under its laws. A
/// rounded form must be a narrower cast of the value, or the same view of a rounded form of the value's operand.
std::string verify(const ir::GraphData& graph, const EClasses& classes);

/// `%5 = %6 exact, %9 distributed`: a line for each value with several expressions, then `%5 rounded: %7` for each
/// rounded form; for dumps and tests.
std::string to_string(const ir::GraphData& graph, const EClasses& classes);

}  // namespace cairn::alternatives
