#pragma once

#include "canon/canon.hpp"

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::inline v0::canon {

/// The normal forms of all nodes of a graph, and the way back.
class Forms {
public:
    /// Throws Cancelled on a stop.
    explicit Forms(const ir::GraphData& graph, const std::stop_token& stop = {})
        : Forms(graph, Laws::of_definitions(), stop) {}
    /// The same by exact laws and these alone.
    Forms(const ir::GraphData& graph, Laws laws, const std::stop_token& stop = {});
    const Scaled& operator[](ir::NodeId id) const { return forms_[id]; }
    /// How many terms there were before the form of this node was made; of the number behind the last, after it.
    CanonId terms_before(ir::NodeId id) const { return terms_before_[id]; }
    /// The nodes with this value, oldest first.
    std::vector<ir::NodeId> nodes_of(const Scaled& form) const;
    Canon& canon() noexcept { return canon_; }
    const Canon& canon() const noexcept { return canon_; }

private:
    Canon canon_;
    std::vector<Scaled> forms_;
    std::vector<CanonId> terms_before_;  // of each node, and of all
    types::Index nodes_;                 // by the cells of their forms
};

/// The forms of the nodes of `graph`, whose inputs `inputs` have the forms `values`; `made` receives one form a node,
/// until `go_on(node)` says no. True when all are made.
bool forms_over(const ir::GraphData& graph, std::span<const ir::NodeId> inputs, std::span<const Scaled> values,
                Canon& canon, std::vector<Scaled>& made, const std::function<bool(ir::NodeId)>& go_on);

/// True for ops whose form stays whole within the form of whatever is computed from it.
bool stays_whole(ir::Op op);
/// True for ops that are written as powers of e: exp, log and tanh.
bool is_exponential(ir::Op op);
/// The op of the form that shows where `op` stood in a spelling: exp for tanh, else itself.
ir::Op shown_as(ir::Op op);

}  // namespace cairn::inline v0::canon
