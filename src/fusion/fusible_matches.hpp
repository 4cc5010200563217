#pragma once

#include "fusion/match.hpp"
#include "graph/ir/graph_data.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <span>
#include <stop_token>
#include <vector>

namespace cairn::fusion {

/// What bodies may hold of the matches in a graph: definitions that are steps, and what `fused` bodies begin with,
/// which is called a product here: a matmul, or a definition in its place (Definition::fusion_role).
class FusibleMatches {
public:
    /// Of a graph without matches.
    FusibleMatches() = default;
    /// Takes the products of matrices out of `matches`, a list a node, and adds those that are nodes; steps and heads
    /// stay there as tiles of their own. Classes and the lists must outlive it. Throws Cancelled.
    FusibleMatches(const ir::GraphData& graph, const normal_form::NormalForms& forms,
                   const alternatives::EClasses& classes, std::span<const Pattern> patterns,
                   std::vector<std::vector<Match>>& matches, const std::stop_token& stop);

    /// The step that makes a node, or null.
    const Match* step(ir::NodeId node) const { return steps_.empty() ? nullptr : steps_[node]; }
    /// The products found at a node: matmuls of x and w, or of these and a bias, and heads.
    std::span<const Match> anchors_at(ir::NodeId node) const;
    /// Those found at any spelling of a value, each once. What is computed from the value has its form by the first
    /// spelling, so only those of the same form are of use there.
    std::vector<const Match*> anchors_of(ir::NodeId value) const;
    /// True for what a step computes on its way.
    bool is_inside_step(ir::NodeId node) const { return !inside_.empty() && inside_[node]; }

private:
    const alternatives::EClasses* classes_ = nullptr;
    std::vector<const Match*> steps_;
    std::vector<std::vector<Match>> anchors_;
    std::vector<bool> inside_;
    std::vector<bool> has_form_of_value_;  ///< each node: its form is that of the first spelling
};

}  // namespace cairn::fusion
