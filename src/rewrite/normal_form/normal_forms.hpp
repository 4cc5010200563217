#pragma once

#include "rewrite/normal_form/normalizer.hpp"

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::normal_form {

/// The normal forms of all nodes of a graph, with lookup of nodes by form.
class NormalForms {
public:
    /// Throws Cancelled on a stop.
    explicit NormalForms(const ir::GraphData& graph, const std::stop_token& stop = {})
        : NormalForms(graph, Laws::of_definitions(), stop) {}
    /// The same with the exact laws and `laws` only.
    NormalForms(const ir::GraphData& graph, Laws laws, const std::stop_token& stop = {});
    const ScaledTerm& operator[](ir::NodeId id) const { return forms_[id]; }
    /// The number of terms before the form of node `id` was made; for `id` = number of nodes, the total.
    TermId terms_before(ir::NodeId id) const { return terms_before_[id]; }
    /// The nodes with this form, oldest first.
    std::vector<ir::NodeId> nodes_of(const ScaledTerm& form) const;
    Normalizer& normalizer() noexcept { return normalizer_; }
    const Normalizer& normalizer() const noexcept { return normalizer_; }

private:
    Normalizer normalizer_;
    std::vector<ScaledTerm> forms_;
    std::vector<TermId> terms_before_;  // by node, then the total
    types::HashIndex nodes_;            // by the cells of their forms
};

/// Computes the forms of the nodes of `graph` into `made`, one per node, given the forms `values` of the nodes
/// `inputs`. Stops when `go_on(node)` returns false; returns true if all forms were made.
bool normalize_graph(const ir::GraphData& graph, std::span<const ir::NodeId> inputs, std::span<const ScaledTerm> values,
                     Normalizer& normalizer, std::vector<ScaledTerm>& made,
                     const std::function<bool(ir::NodeId)>& go_on);

/// True for ops whose result is a single term within the form of every value computed from it.
bool is_opaque(ir::Op op);
/// True for ops expressed by powers of e: exp, log and tanh.
bool is_exponential(ir::Op op);
/// The op that represents `op` in a normal form: exp for tanh, concat for state_append, else `op` itself.
ir::Op canonical_op(ir::Op op);

}  // namespace cairn::normal_form
