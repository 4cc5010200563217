#pragma once

#include "fuse/tiles.hpp"

#include <stop_token>
#include <vector>

namespace cairn::inline v0::fuse {

/// Groups of connected elementwise ops that one pass over memory can compute.
///
///     %2 = mul %0, %1      ->  elementwise {2=mul(0,1) 3=tanh(2)} (%0, %1) -> (%3)
///     %3 = tanh %2
class Groups {
public:
    explicit Groups(const ir::GraphData& graph);
    /// The groups that end in each node, at most three. They differ in what they do at a value that is read elsewhere
    /// too: compute it again, where that reads no more memory than the value itself; read it; or provide it, where it
    /// has the shape of the root. A producer smaller than the root is taken in only where computing it again for each
    /// element costs little. No group ends in a link of a chain that is within a long one, unless it is
    /// `wanted`. Throws Cancelled on a stop.
    std::vector<std::vector<Tile>> all(const std::vector<bool>& wanted, const std::stop_token& stop) const;

private:
    struct Group;
    struct Rim;
    enum class Shared { recompute, read, provide };
    void at(ir::NodeId root, std::vector<Tile>& tiles, std::vector<bool>& passed) const;
    bool joins(ir::NodeId producer, ir::NodeId root) const;
    bool grow(Group& group, Shared shared) const;
    Tile tile_of(const Group& group, const std::vector<ir::NodeId>& outputs) const;
    std::vector<ir::NodeId> shared_values(const Group& group) const;
    std::vector<int> uses_inside(const Group& group) const;
    bool is_link(ir::NodeId id, int steps) const;
    void pass_over(const Group& group, std::vector<bool>& passed) const;
    bool reads_later(ir::NodeId input, ir::NodeId output) const;

    const ir::GraphData& graph_;
    std::vector<int> uses_;
};

}  // namespace cairn::inline v0::fuse
