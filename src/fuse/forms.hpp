#pragma once

#include "fuse/canon.hpp"

#include <span>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::fuse {

/// The normal forms of all nodes of a graph, and the way back.
class Forms {
public:
    explicit Forms(const ir::GraphData& graph);
    const Scaled& operator[](ir::NodeId id) const { return forms_[id]; }
    /// The nodes with this value, oldest first.
    std::vector<ir::NodeId> nodes_of(const Scaled& form) const;
    Canon& canon() noexcept { return canon_; }
    /// The core under reshapes and transposes.
    CanonId unmoved(CanonId core) const;

private:
    Canon canon_;
    std::vector<Scaled> forms_;
    std::unordered_multimap<CanonId, ir::NodeId> nodes_;
};

/// The forms of the nodes of `graph`, whose inputs `inputs` have the forms `values`; `made` receives one form a node.
void forms_over(const ir::GraphData& graph, std::span<const ir::NodeId> inputs, std::span<const Scaled> values, Canon& canon,
                std::vector<Scaled>& made);

}  // namespace cairn::inline v0::fuse
