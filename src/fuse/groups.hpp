#pragma once

#include "fuse/ancestors.hpp"
#include "fuse/bodies.hpp"
#include "fuse/body_parts.hpp"
#include "fuse/tiles.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::inline v0::fuse {

/// Groups of connected elementwise ops that one pass over memory can compute, or that can be computed on each part of a
/// product as soon as it is there.
///
///     %2 = mul %0, %1      ->  elementwise {2=mul(0,1) 3=tanh(2)} (%0, %1) -> (%3)
///     %3 = tanh %2
///     %2 = matmul %0, %1   ->  fused {2=matmul(0,1) 3=tanh(2)} (%0, %1) -> (%3)
///     %3 = tanh %2
///
/// In place of the matmul stands what is found as a definition that is a head: `fused {2=conv2d(0,1) 3=relu(2)}`.
class Groups {
public:
    /// Graph, classes and parts must outlive it. Throws Cancelled on a stop, as all() does.
    Groups(const ir::GraphData& graph, const expand::Classes& classes, const BodyParts& parts, std::stop_token stop);
    /// The groups that end in each node, at most three. They differ in what they do at a value that is read elsewhere
    /// too, or is spelled in several ways: compute it again, where that reads no more memory than the value itself;
    /// read it; or provide it, where it has the shape of the root. A producer smaller than the root is taken in only
    /// where computing it again for each element costs little. No group ends in a link of a chain that is within a long
    /// one, unless it is `wanted`.
    /// And the products found at each node, and the group that goes on from a product and ends there, where nothing
    /// else reads the product or what comes of it on the way.
    std::vector<std::vector<Tile>> all(const std::vector<bool>& wanted);

private:
    struct Group;
    struct Rim;
    enum class Shared { recompute, read, provide };
    /// What a group goes on from: no product; one found where the value is spelled as the group reads it, or elsewhere.
    enum class Head : std::uint8_t { none, product, product_in_any_spelling };
    /// What there is to know of a node, so that it is looked up once.
    struct Facts {
        std::uint32_t shape = 0;  ///< equal for equal shapes
        bool elementwise = false, cheap = false, number = false;
        bool shared = false;  ///< read by several, or spelled in several ways
        bool bound = false;   ///< depends on weights and constants only
    };
    /// A node's part in the group in the making. Where `group` is not its number, none.
    enum class Part : std::uint8_t { none, member, read, refused, listed };
    struct Mark {
        std::uint32_t group = 0;
        Part part = Part::none;
        int value = 0;  ///< its number in the body
    };

    void at(ir::NodeId root, std::vector<Tile>& tiles, std::vector<bool>& passed);
    void add_products(ir::NodeId root, std::vector<Tile>& tiles);
    void add_behind_product(ir::NodeId root, std::vector<Tile>& tiles);
    bool joins(ir::NodeId producer, const Group& group) const;
    bool is_product(ir::NodeId id, const Group& group) const;
    bool is_read_inside(ir::NodeId value, const Group& group) const;
    std::span<const ir::NodeId> operands_of(ir::NodeId id, const Group& group) const;
    bool grow(Group& group, Shared shared);
    Rim widened(Rim rim, ir::NodeId producer, const Group& group) const;
    void take(ir::NodeId producer, Group& group, Shared shared);
    void list_reads(Group& group);
    Tile tile_of(const Group& group, const std::vector<ir::NodeId>& outputs);
    Tile tile_of(const Group& group, const Tile& product);
    void add_steps(const Group& group, int values);
    std::vector<ir::NodeId> shared_values(const Group& group);
    std::vector<int> uses_inside(const Group& group) const;
    bool is_link(ir::NodeId id, int steps) const;
    void pass_over(const Group& group, std::vector<bool>& passed) const;
    Part part_of(ir::NodeId id) const { return marks_[id].group == group_ ? marks_[id].part : Part::none; }
    void set_part(ir::NodeId id, Part part) { marks_[id] = {group_, part, 0}; }

    const ir::GraphData& graph_;
    const expand::Classes& classes_;
    const BodyParts& parts_;
    std::stop_token stop_;
    std::vector<int> uses_;
    std::vector<Facts> facts_;
    std::vector<Mark> marks_;
    std::uint32_t group_ = 0;
    Ancestors ancestors_;
    Bodies bodies_;
};

}  // namespace cairn::inline v0::fuse
