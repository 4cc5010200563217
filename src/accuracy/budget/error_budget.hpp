#pragma once

#include "accuracy/metric/combined_error.hpp"
#include "cairn/tolerance.hpp"
#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// Error budgets: the largest errors allowed in the results of a graph, and the values that contribute to them.
namespace cairn::accuracy {

/// The laws that an exact tolerance admits: under them every rounding stays within (terms + 16) eps of the sum of the
/// absolute terms (docs/decisions/0018). A new law that does not must be excluded from e-classes and matches if the
/// tolerance is exact.
inline constexpr alternatives::Laws exact_laws{alternatives::Law::distributed, alternatives::Law::masked,
                                               alternatives::Law::reassociated};
static_assert(alternatives::Laws::all().holds_under(exact_laws), "a law is used that exact does not admit");

class ErrorInfluence;

/// The largest combined error allowed on the way to a result that users see, an output or a state; 0: none.
struct ErrorBudget {
    std::string name;  ///< `output "y"`, `state "keys"`
    ir::NodeId node = 0;
    double limit = 0;  ///< of the errors of kernels and of roundings within matches
    bool is_state = false;
    int port = 0;         ///< index among the graph's outputs, or states
    double rounding = 0;  ///< of states stored narrower; `limit` is what it leaves of the scaled tolerance
    double scale = 1;     ///< admitted combined error as a multiple of the tolerance

    double tolerance() const { return scale == 0 ? 0 : combined_error(limit, rounding) / scale; }
};

/// One budget for each output, with its own tolerance or the common one, and one with the common tolerance for each
/// state that no output depends on. Throws Error(argument) if a tolerance names no output, or an output has two.
std::vector<ErrorBudget> error_budgets_of(const ir::GraphData& graph, const Tolerance& all,
                                          std::span<const OutputTolerance> own);

/// Budgets of a multiple of their tolerances, for programs that are known to err less, or more, than stated.
std::vector<ErrorBudget> scaled_budgets(std::vector<ErrorBudget> bounds, double scale);

/// The combined error of rounding states to their storage dtype: once for each state that influences the budget.
double rounding_in(const ir::GraphData& graph, const ErrorInfluence& influence, std::size_t bound);
/// What that rounding leaves of each budget; the limit is negative if the rounding exceeds it.
std::vector<ErrorBudget> subtract_state_rounding(const ir::GraphData& graph, std::vector<ErrorBudget> bounds);

/// The budget of a state's value after a run, with this limit.
ErrorBudget error_budget_of_state(const ir::GraphData& graph, int state, double limit);

/// The values that influence each budget: in any expression or rounded, in this run or, through a state, in a later
/// one. Computed per budget on the first query: most kernels have no error.
class ErrorInfluence {
public:
    /// All arguments must outlive it.
    ErrorInfluence(const ir::GraphData& graph, const alternatives::EClasses& classes,
                   std::span<const ErrorBudget> bounds);

    std::span<const ErrorBudget> bounds() const noexcept { return bounds_; }
    bool influences(ir::NodeId node, std::size_t bound) const { return influenced_nodes(bound)[node]; }
    /// The smallest limit of the budgets that a value influences; infinite if it influences none.
    double limit(ir::NodeId node) const;
    /// Number of node visits of all queries so far.
    std::size_t visits() const noexcept { return visits_; }

private:
    /// Visits all nodes that `from` depends on, in any expression, but does not pass nodes that `enter` refuses. The
    /// value read from a state depends on what runs write there.
    void visit_producers(ir::NodeId from, const std::function<bool(ir::NodeId)>& enter) const;
    const std::vector<bool>& influenced_nodes(std::size_t bound) const;

    const ir::GraphData* graph_;
    const alternatives::EClasses* classes_;
    std::span<const ErrorBudget> bounds_;
    std::unordered_map<ir::NodeId, ir::NodeId> state_writes_;  // by the node that reads a state
    mutable std::vector<std::vector<bool>> influenced_;        // of each budget: its nodes; empty: not computed yet
    mutable std::vector<double> limits_;                       // of each node; empty: not computed yet
    mutable std::size_t visits_ = 0;
};

}  // namespace cairn::accuracy
