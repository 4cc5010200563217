#pragma once

#include "fusion/match.hpp"
#include "graph/types/small_vector.hpp"
#include "selection/candidates/candidates.hpp"
#include "selection/candidates/goal.hpp"
#include "selection/choose/error_budget.hpp"

#include <deque>
#include <functional>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <vector>

/// Which goals a program has, and the ways to reach them.
namespace cairn::selection {

/// One of the programs that are chosen together.
struct Bucket {
    const ir::GraphData& graph;
    const std::vector<fusion::Match>& matches;
    Candidates& candidates;
    double weight = 1;                         ///< how often it runs, beside the others
    std::span<const ErrorBudget> bounds = {};  ///< what errors may add up to; none: as it comes
};

/// Which candidates are ways to reach a goal.
enum class Breadth : std::uint8_t {
    first,     ///< of each value the first of its own op, and no other
    cheapest,  ///< of those that find their operands in equal forms the cheapest
    all,
};

/// The goal that an operand of a candidate rests on; nothing for what is there anyway (inputs, weights, constants,
/// states before the run).
std::optional<Goal> goal_of(const KernelOperand& operand, const Candidates& candidates);

/// The goal of making what `goal` wants brought.
Goal produced(Goal goal);

/// An output as users read it: on the CPU, a copy of what does not lie there row after row in memory of its own.
KernelOperand operand_of_output(ir::NodeId node, const ir::GraphData& graph, const Candidates& candidates);

/// Whether the error of a candidate for a goal shows in a bound.
bool influences(const Goal& goal, const Candidate& candidate, const ErrorInfluence& influence, std::size_t bound);

/// The goals of one bucket: values with memory of their own, dense copies of views, packed forms of bound values, and
/// bound values that are kept. Goals are known here by the order in which they were first spoken of.
class Producers {
public:
    using List = types::SmallVector<int, 4>;  // mostly few
    /// A candidate and the goals it rests on.
    struct Producer {
        Candidate candidate;  ///< without a kernel where the goal is to keep a value, or it was made where it is wanted
        List needs;
    };

    /// Throws Cancelled on a stop.
    Producers(const Bucket& bucket, Breadth breadth, std::stop_token stop);

    /// Goals that what is wanted may rest on, needs before users; everything about weights comes right before its first
    /// user: few goals then cross any place between two layers.
    std::span<const int> order() const noexcept { return order_; }
    std::size_t size() const noexcept { return entries_.size(); }
    const Goal& goal(int number) const { return at(number).goal; }
    std::span<const Producer* const> producers(int number) const {
        return {at(number).producers.data(), at(number).producers.size()};
    }
    /// Removes each way for which `stays` is false, which may change the others' candidates, and orders the goals anew.
    void filter(const std::function<bool(int number, Producer& producer)>& stays);
    /// Further goals that a way of `number` reaches.
    List provided_by(int number, const Producer& producer);
    /// What has to be there after a run: outputs and the last versions of states, ascending.
    const std::set<Goal>& roots() const noexcept { return roots_; }
    /// Of a goal; one that nobody has spoken of has none.
    std::optional<int> find(const Goal& goal) const;
    /// Where errors in a value show.
    const ErrorInfluence& influence() const noexcept { return influence_; }

private:
    struct GoalEntry {
        Goal goal;
        int next;             ///< the next goal of the same value, by place
        bool exists = false;  ///< there is a way to it: a candidate, or another goal's that brings it along
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
    int number_of(const Goal& goal);
    void add_producer(const Goal& goal, Candidate candidate);
    template <typename Visit>
    void for_each_goal(const Visit& visit);
    void add_match(int t);
    void demand_output(ir::NodeId node);
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
    ErrorInfluence influence_;
    Breadth breadth_;
    std::stop_token stop_;
    std::pmr::monotonic_buffer_resource pool_;
    std::pmr::deque<GoalEntry> entries_{&pool_};
    std::pmr::deque<Producer> producers_{&pool_};  // of all goals, in the order in which they were found
    std::vector<int> first_;                       // goal of each value, by place
    std::vector<int> order_;
    std::set<Goal> roots_;
};

/// True for the tile that is one node's own op.
bool is_single_node(const fusion::Match& match, const ir::GraphData& graph);

}  // namespace cairn::selection
