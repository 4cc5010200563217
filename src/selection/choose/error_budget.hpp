#pragma once

#include "cairn/tolerance.hpp"
#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// How far the results of a graph may be off, and which values have a part in that.
namespace cairn::selection {

/// The laws that `exact` admits: by them every rounding stays within (terms + 16) eps of the sum of the absolute terms
/// (docs/decisions/0018). A further law that does not must leave classes and tiles where the tolerance is exact.
inline constexpr alternatives::Laws exact_laws{alternatives::Law::distributed, alternatives::Law::masked,
                                               alternatives::Law::reassociated};
static_assert(alternatives::Laws::all().holds_under(exact_laws), "a law is used that exact does not admit");

class ErrorInfluence;

/// What users see of a graph, and the most that the errors on the way to it may add up to; 0: none.
struct ErrorBudget {
    std::string name;  ///< `output "y"`, `state "keys"`
    ir::NodeId node = 0;
    double limit = 0;
    bool is_state = false;
    int port = 0;         ///< its number among the graph's outputs, or states
    double rounding = 0;  ///< what has been taken off the limit for states that are stored narrower
};

/// One for each output, by its own tolerance or that of all, and one for each state that no output is made of, by that
/// of all. Throws Error(argument) where a tolerance is for no output, or an output has two.
std::vector<ErrorBudget> error_budgets_of(const ir::GraphData& graph, const Tolerance& all,
                                          std::span<const OutputTolerance> own);

/// What rounding states to how they are stored adds to the errors in a bound: once for each that shows there.
double rounding_in(const ir::GraphData& graph, const ErrorInfluence& influence, std::size_t bound);
/// The bounds, each without that: negative where it is more than the limit.
std::vector<ErrorBudget> less_state_rounding(const ir::GraphData& graph, std::vector<ErrorBudget> bounds);

/// What a run leaves in a state, with such a limit.
ErrorBudget error_budget_of_state(const ir::GraphData& graph, int state, double limit);

/// Which values show in which bounds: in any spelling or rounded, in this run or, by a state, in a later one. Found for
/// a bound when it is first asked for: mostly no kernel states an error.
class ErrorInfluence {
public:
    /// All must outlive it.
    ErrorInfluence(const ir::GraphData& graph, const alternatives::EClasses& classes,
                   std::span<const ErrorBudget> bounds);

    std::span<const ErrorBudget> bounds() const noexcept { return bounds_; }
    bool influences(ir::NodeId node, std::size_t bound) const { return shown(bound)[node]; }
    /// The least limit of those in which a value shows; endless where it shows in none.
    double limit(ir::NodeId node) const;
    /// How often a node was looked at for all answers so far.
    std::size_t visits() const noexcept { return visits_; }

private:
    /// Goes to all that a node is made of, in any spelling, but not beyond what `take` refuses. What was in a state is
    /// made of what runs leave there.
    void visit_producers(ir::NodeId from, const std::function<bool(ir::NodeId)>& take) const;
    const std::vector<bool>& shown(std::size_t bound) const;

    const ir::GraphData* graph_;
    const alternatives::EClasses* classes_;
    std::span<const ErrorBudget> bounds_;
    std::unordered_map<ir::NodeId, ir::NodeId> state_writes_;  // by the node that reads a state
    mutable std::vector<std::vector<bool>> shown_;             // of each bound: nodes; empty: not asked for
    mutable std::vector<double> limits_;                       // of each node; empty: not asked for
    mutable std::size_t visits_ = 0;
};

}  // namespace cairn::selection
