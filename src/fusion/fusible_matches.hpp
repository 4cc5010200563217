#pragma once

#include "fusion/match.hpp"
#include "graph/ir/graph_data.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <span>
#include <stop_token>
#include <vector>

namespace cairn::fusion {

/// The matches of a graph that bodies may contain: definitions that are steps, and anchors, with which a `fused` body
/// begins: a matmul, or a definition in its place (Definition::fusion_role).
class FusibleMatches {
public:
    /// For a graph without matches.
    FusibleMatches() = default;
    /// Moves the products of matrices out of `matches`, one list per node, and adds those that are single nodes; steps
    /// and definitions with FusionRole::anchor stay there as matches of their own. Classes and lists must outlive this
    /// object. Throws Cancelled.
    FusibleMatches(const ir::GraphData& graph, const normal_form::NormalForms& forms,
                   const alternatives::EClasses& classes, std::span<const Pattern> patterns,
                   std::vector<std::vector<Match>>& matches, const std::stop_token& stop);

    /// The step that computes a node, or null.
    const Match* step(ir::NodeId node) const { return steps_.empty() ? nullptr : steps_[node]; }
    /// The anchors found at a node: matmuls of x and w, with or without a bias, and definitions with
    /// FusionRole::anchor.
    std::span<const Match> anchors_at(ir::NodeId node) const;
    /// The anchors found at any expression of a value, each once. Values computed from this value have forms based on
    /// its first expression, so only anchors of that form are included.
    std::vector<const Match*> anchors_of(ir::NodeId value) const;
    /// True for an intermediate value of a step.
    bool is_inside_step(ir::NodeId node) const { return !inside_.empty() && inside_[node]; }

private:
    const alternatives::EClasses* classes_ = nullptr;
    std::vector<const Match*> steps_;
    std::vector<std::vector<Match>> anchors_;
    std::vector<bool> inside_;
    std::vector<bool> has_form_of_value_;  ///< by node: its form is that of the first expression
};

}  // namespace cairn::fusion
