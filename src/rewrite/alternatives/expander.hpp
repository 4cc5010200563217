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

/// A copy of a graph to which rows append nodes, and the classes they join them to. It keeps the classes free of
/// circles: each value has a rank, bound ones 0, the others by their age; what is made of values has the highest rank
/// of them, and only what ranks below a value becomes a spelling of it.
///
///     Expander e(graph);   auto part = e.make(Op::slice, {merged}, cut, like);   e.join(product, *part, {});
class Expander {
public:
    /// Throws Cancelled on a stop, as rows do that ask go_on().
    Expander(const ir::GraphData& source, std::stop_token stop);

    const ir::GraphData& graph() const noexcept { return *graph_; }
    const ir::Node& node(ir::NodeId id) const { return graph_->node(id); }
    ir::NodeId size() const noexcept { return static_cast<ir::NodeId>(graph_->nodes().size()); }
    /// Throws Cancelled on a stop.
    void go_on() const;

    /// True for what the program itself spells.
    bool is_original(ir::NodeId id) const noexcept { return id < original_count_; }
    /// True for what depends on weights and constants only.
    bool is_bound(ir::NodeId id) const { return rank_[id] == 0; }
    ir::NodeId value_of(ir::NodeId id) const { return classes_.value_of(id); }
    /// The spellings of a value, its own first; valid until a node is made or joined.
    std::span<const ir::NodeId> expressions(ir::NodeId value) const { return classes_.expressions(value); }
    /// True for a node that has been joined to a value.
    bool is_joined(ir::NodeId id) const { return value_of(id) != id; }
    Laws laws_of(ir::NodeId id) const { return classes_.laws_of(id); }
    /// The nodes that read this one, oldest first.
    std::span<const ir::NodeId> users(ir::NodeId id) const { return users_[id]; }
    /// True for what an output or a state takes.
    bool is_read_outside(ir::NodeId value) const { return is_read_outside_[value]; }
    /// The only node of the program that reads this value, where nothing else does.
    std::optional<ir::NodeId> single_user(ir::NodeId value) const;

    /// A node; nothing where the shape rule does not prove that it fits. Line and composite are those of `like`.
    std::optional<ir::NodeId> make(ir::Op op, std::vector<ir::NodeId> operands, Attributes attributes, ir::NodeId like);
    /// Joins a node to a value of the program; false where it does not become a spelling of it: it is older, is read
    /// already, belongs to another value, or does not rank below it.
    bool join(ir::NodeId value, ir::NodeId expression, Laws laws);
    /// Says that a new node is a value of the program rounded to fewer bits.
    void round(ir::NodeId value, ir::NodeId narrow) { classes_.round(value, narrow); }

    /// The graph in the order of ranks, without what has come to nothing, and its classes.
    Expansion finish() const;

private:
    void note(ir::NodeId id);
    std::vector<bool> kept() const;

    std::stop_token stop_;
    std::shared_ptr<ir::GraphData> graph_;
    ir::NodeId original_count_ = 0;
    EClasses classes_;
    std::vector<ir::NodeId> rank_;  // of values and what else is made of them
    std::vector<std::vector<ir::NodeId>> users_;
    std::vector<bool> is_read_outside_;  // of the program's nodes
};

}  // namespace cairn::alternatives
