#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::normal_form {

/// The normal forms of all nodes of a graph, and the way back.
class NormalForms {
public:
    /// Throws Cancelled on a stop.
    explicit NormalForms(const ir::GraphData& graph, const std::stop_token& stop = {})
        : NormalForms(graph, Laws::of_definitions(), stop) {}
    /// The same by exact laws and these alone.
    NormalForms(const ir::GraphData& graph, Laws laws, const std::stop_token& stop = {});
    const ScaledTerm& operator[](ir::NodeId id) const { return forms_[id]; }
    /// How many terms there were before the form of this node was made; of the number behind the last, after it.
    TermId terms_before(ir::NodeId id) const { return terms_before_[id]; }
    /// The nodes with this value, oldest first.
    std::vector<ir::NodeId> nodes_of(const ScaledTerm& form) const;
    Normalizer& normalizer() noexcept { return normalizer_; }
    const Normalizer& normalizer() const noexcept { return normalizer_; }

private:
    Normalizer normalizer_;
    std::vector<ScaledTerm> forms_;
    std::vector<TermId> terms_before_;  // of each node, and of all
    types::HashIndex nodes_;            // by the cells of their forms
};

/// The forms of the nodes of `graph`, whose inputs `inputs` have the forms `values`; `made` receives one form a node,
/// until `go_on(node)` says no. True when all are made.
bool normalize_graph(const ir::GraphData& graph, std::span<const ir::NodeId> inputs, std::span<const ScaledTerm> values,
                     Normalizer& normalizer, std::vector<ScaledTerm>& made,
                     const std::function<bool(ir::NodeId)>& go_on);

/// True for ops whose form stays whole within the form of whatever is computed from it.
bool is_opaque(ir::Op op);
/// True for ops that are written as powers of e: exp, log and tanh.
bool is_exponential(ir::Op op);
/// The op of the form that shows where `op` stood in a spelling: exp for tanh, else itself.
ir::Op canonical_op(ir::Op op);

}  // namespace cairn::normal_form
