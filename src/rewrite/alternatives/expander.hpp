#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::alternatives {

struct Expansion;

/// A copy of a graph to which equivalence rules append nodes, and the e-classes they join them to. Ranks keep the
/// classes acyclic: bound values have rank 0, other values of the program rank by age, and a new node has the highest
/// rank of the values it reads. A node may join only a value of higher rank.
///
///     Expander e(graph);   auto part = e.make(Op::slice, {merged}, cut, like);   e.join(product, *part, {});
class Expander {
public:
    /// Throws Cancelled on a stop, as do rules that call go_on().
    Expander(const ir::GraphData& source, std::stop_token stop);

    const ir::GraphData& graph() const noexcept { return *graph_; }
    const ir::Node& node(ir::NodeId id) const { return graph_->node(id); }
    ir::NodeId size() const noexcept { return static_cast<ir::NodeId>(graph_->nodes().size()); }
    /// Throws Cancelled on a stop.
    void go_on() const;

    /// True for nodes of the program itself.
    bool is_original(ir::NodeId id) const noexcept { return id < original_count_; }
    /// True for what depends on weights and constants only.
    bool is_bound(ir::NodeId id) const { return rank_[id] == 0; }
    ir::NodeId value_of(ir::NodeId id) const { return classes_.value_of(id); }
    /// The expressions of a value, the program's own first; valid until a node is made or joined.
    std::span<const ir::NodeId> expressions(ir::NodeId value) const { return classes_.expressions(value); }
    /// True for a node that has been joined to a value.
    bool is_joined(ir::NodeId id) const { return value_of(id) != id; }
    Laws laws_of(ir::NodeId id) const { return classes_.laws_of(id); }
    /// The nodes that read this one, oldest first.
    std::span<const ir::NodeId> users(ir::NodeId id) const { return users_[id]; }
    /// True for a value that an output or a state reads.
    bool is_read_outside(ir::NodeId value) const { return is_read_outside_[value]; }
    /// The only node of the program that reads this value; nothing if there are several, or if an output or a state
    /// reads it.
    std::optional<ir::NodeId> single_user(ir::NodeId value) const;

    /// Makes a node; nothing if shape inference does not prove it valid. Line and composite are those of `like`.
    std::optional<ir::NodeId> make(ir::Op op, std::vector<ir::NodeId> operands, Attributes attributes, ir::NodeId like);
    /// Joins a node to a value of the program. Returns false if it cannot be an expression of it: it is itself of the
    /// program, has users, belongs to a value already, differs in dtype or shape, or does not rank below the value.
    bool join(ir::NodeId value, ir::NodeId expression, Laws laws);
    /// Records that a new node is the rounded copy of a value of the program.
    void round(ir::NodeId value, ir::NodeId narrow) { classes_.round(value, narrow); }

    /// The graph in order of ranks, without unused new nodes, and its classes.
    Expansion finish() const;

private:
    void note(ir::NodeId id);
    std::vector<bool> kept() const;

    std::stop_token stop_;
    std::shared_ptr<ir::GraphData> graph_;
    ir::NodeId original_count_ = 0;
    EClasses classes_;
    std::vector<ir::NodeId> rank_;  // by node
    std::vector<std::vector<ir::NodeId>> users_;
    std::vector<bool> is_read_outside_;  // by node of the program
};

}  // namespace cairn::alternatives
