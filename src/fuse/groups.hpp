#pragma once

#include "fuse/tiles.hpp"

#include <vector>

namespace cairn::inline v0::fuse {

/// Groups of connected elementwise ops that one pass over memory can compute.
///
///     %2 = mul %0, %1      ->  elementwise {2=mul(0,1) 3=tanh(2)} (%0, %1) -> (%3)
///     %3 = tanh %2
class Groups {
public:
    explicit Groups(const ir::GraphData& graph);
    /// Appends the groups that end in `root`, at most three: as large as it can be; stopping at values that are read elsewhere; and the large one
    /// that also provides these values, where they have the shape of the root. A producer smaller than the root is taken in only where
    /// computing it again for each element costs little.
    void at(ir::NodeId root, std::vector<Tile>& tiles) const;

private:
    struct Group;
    bool joins(ir::NodeId producer, ir::NodeId root) const;
    bool grow(Group& group, bool stop_at_shared) const;
    Tile tile_of(const Group& group, const std::vector<ir::NodeId>& outputs) const;
    std::vector<ir::NodeId> shared_values(const Group& group) const;
    bool reads_later(ir::NodeId input, ir::NodeId output) const;

    const ir::GraphData& graph_;
    std::vector<int> uses_;
};

}  // namespace cairn::inline v0::fuse
