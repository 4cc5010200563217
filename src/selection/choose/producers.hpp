#pragma once

#include "accuracy/budget/error_budget.hpp"
#include "fusion/match.hpp"
#include "graph/types/small_vector.hpp"
#include "selection/candidates/candidates.hpp"
#include "selection/candidates/goal.hpp"

#include <deque>
#include <functional>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <vector>

/// The goals of a program, and the candidates that produce them.
namespace cairn::selection {

/// One of the programs that are selected together.
struct Bucket {
    const ir::GraphData& graph;
    const std::vector<fusion::Match>& matches;
    Candidates& candidates;
    double weight = 1;                                   ///< relative frequency of its runs
    std::span<const accuracy::ErrorBudget> bounds = {};  ///< error budgets; none: errors are unlimited
};

/// Which candidates become producers of a goal.
enum class Breadth : std::uint8_t {
    first,     ///< of each value the first candidate of its own op, and no other
    cheapest,  ///< the cheapest of those with equal operand forms
    all,
};

/// The goal that an operand of a candidate depends on; empty if the operand is available in any case (inputs, weights,
/// constants, states before the run).
std::optional<Goal> goal_of(const KernelOperand& operand, const Candidates& candidates);

/// The goal of computing a value in place, for a goal that allows it to be transferred.
Goal produced(Goal goal);

/// An output as users read it: on its device, and copied unless it is row-major in memory of its own.
KernelOperand operand_of_output(const ir::Output& output, const ir::GraphData& graph, const Candidates& candidates);

/// True if the error of a candidate for a goal counts against this error budget.
bool influences(const Goal& goal, const Candidate& candidate, const accuracy::ErrorInfluence& influence,
                std::size_t bound);

/// The goals of one bucket: values with memory of their own, dense copies of views, packed forms of bound values, and
/// kept bound values. Goals are numbered in the order of their first mention.
class Producers {
public:
    using List = types::SmallVector<int, 4>;  // usually few
    /// A candidate and the goals it depends on.
    struct Producer {
        Candidate candidate;  ///< without a kernel if the goal is a kept value, or one computed in its place
        List needs;
    };

    /// Throws Cancelled on a stop.
    Producers(const Bucket& bucket, Breadth breadth, std::stop_token stop);

    /// All run-time goals that have a producer, and the goals that these and the roots depend on, in topological order.
    /// Goals of weights come right before their first user, so that few goals are live across a cut between two layers.
    std::span<const int> order() const noexcept { return order_; }
    std::size_t size() const noexcept { return entries_.size(); }
    const Goal& goal(int number) const { return at(number).goal; }
    std::span<const Producer* const> producers(int number) const {
        return {at(number).producers.data(), at(number).producers.size()};
    }
    /// Removes each producer for which `stays` is false and orders the goals again; `stays` may modify the candidates
    /// that it keeps.
    void filter(const std::function<bool(int number, Producer& producer)>& stays);
    /// Further goals that a producer of `number` provides.
    List provided_by(int number, const Producer& producer);
    /// The goals required after a run: outputs and the last versions of states, ascending.
    const std::set<Goal>& roots() const noexcept { return roots_; }
    /// The number of a goal; empty if it was never mentioned.
    std::optional<int> find(const Goal& goal) const;
    /// The influence of values on the error budgets.
    const accuracy::ErrorInfluence& influence() const noexcept { return influence_; }

private:
    struct GoalEntry {
        Goal goal;
        int next;             ///< the next goal of the same value, by place
        bool exists = false;  ///< it has a producer, or a producer of another goal provides it
        bool visited = false;
        types::SmallVector<Producer*, 6> producers;
    };

    void check_stop() const;
    const std::vector<ValueView>& views() const { return bucket_.candidates.views(); }
    Goal storage_goal(ir::NodeId node) const { return bucket_.candidates.storage_goal(node); }
    bool is_within_error_budget(const Candidate& candidate, std::span<const ir::NodeId> values) const;
    bool is_bound(ir::NodeId value) const { return bucket_.candidates.bound()[value]; }
    GoalEntry& at(int number) { return entries_[static_cast<std::size_t>(number)]; }
    const GoalEntry& at(int number) const { return entries_[static_cast<std::size_t>(number)]; }
    int goal_number(const Goal& goal);
    void add_producer(const Goal& goal, Candidate candidate);
    template <typename Visit>
    void for_each_goal(const Visit& visit);
    void add_match(int t);
    void demand_output(const ir::Output& output);
    void add_conversions();
    void add_copies(const Goal& goal);
    void add_all(const Goal& goal, std::vector<Candidate> candidates);
    bool is_transfer_source(const Goal& goal) const;
    std::optional<Goal> kept_for(const KernelOperand& operand, ir::NodeId top) const;
    List needs_of(const Candidate& candidate, ir::NodeId top);
    std::vector<int> dependencies(int number);
    void visit(int root);
    void order_goals();

    Bucket bucket_;
    accuracy::ErrorInfluence influence_;
    Breadth breadth_;
    std::stop_token stop_;
    std::pmr::monotonic_buffer_resource pool_;
    std::pmr::deque<GoalEntry> entries_{&pool_};
    std::pmr::deque<Producer> producers_{&pool_};  // of all goals, in order of creation
    std::vector<int> first_;                       // first goal of each value, by place
    std::vector<int> order_;
    std::set<Goal> roots_;
};

/// True for the match that is one node's own op.
bool is_single_node(const fusion::Match& match, const ir::GraphData& graph);

}  // namespace cairn::selection
