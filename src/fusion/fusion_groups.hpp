#pragma once

#include "fusion/ancestors.hpp"
#include "fusion/body.hpp"
#include "fusion/fusible_matches.hpp"
#include "fusion/match.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::fusion {

/// Elementwise fusion: groups of connected elementwise ops that one pass over memory can compute, or that can be
/// computed as the epilogue of a product, on each part of its result as soon as that is available.
///
///     %2 = mul %0, %1      ->  elementwise {2=mul(0,1) 3=tanh(2)} (%0, %1) -> (%3)
///     %3 = tanh %2
///     %2 = matmul %0, %1   ->  fused {2=matmul(0,1) 3=tanh(2)} (%0, %1) -> (%3)
///     %3 = tanh %2
///
/// A match of a definition with FusionRole::anchor can take the place of the matmul: `fused {2=conv2d(0,1) 3=relu(2)}`.
class FusionGroups {
public:
    /// Graph, classes and parts must outlive this object. Throws Cancelled on a stop, as all() does.
    FusionGroups(const ir::GraphData& graph, const alternatives::EClasses& classes, const FusibleMatches& parts,
                 std::stop_token stop);
    /// The groups that end in each node, at most three. They differ in how they treat a value that is also read
    /// elsewhere, or that has several expressions: they recompute it, if that reads no more memory than the value
    /// itself; read it; or provide it, if it has the shape of the root. A producer smaller than the root joins only if
    /// computing it again for each element costs little. No group ends in a link of a chain inside a long group, unless
    /// that node is `requested`. Also the products found at each node, and the group that starts from a product and
    /// ends there, if nothing else reads the product or the values computed from it on the way.
    std::vector<std::vector<Match>> all(const std::vector<bool>& requested);

private:
    struct Group;
    struct Boundary;
    enum class SharedPolicy { recompute, read, provide };
    /// What a group starts from: no product; a product found at the expression that the group reads, or at any
    /// expression.
    enum class GroupStart : std::uint8_t { none, anchor, anchor_in_any_expression };
    /// Properties of a node that are computed once.
    struct NodeFacts {
        std::uint32_t shape = 0;  ///< equal for equal shapes
        bool elementwise = false, cheap = false, number = false;
        bool shared = false;  ///< read several times, or with several expressions
        bool bound = false;   ///< depends on weights and constants only
    };
    /// A node's role in the group under construction; none if `group` is not that group's number.
    enum class NodeRole : std::uint8_t { none, member, read, refused, listed };
    struct RoleMark {
        std::uint32_t group = 0;
        NodeRole role = NodeRole::none;
        int value = 0;  ///< its number in the body
    };

    void at(ir::NodeId root, std::vector<Match>& matches, std::vector<bool>& skipped);
    void add_anchors(ir::NodeId root, std::vector<Match>& matches);
    void add_epilogue_groups(ir::NodeId root, std::vector<Match>& matches);
    bool may_join(ir::NodeId producer, const Group& group) const;
    bool is_anchor(ir::NodeId id, const Group& group) const;
    bool is_read_inside(ir::NodeId value, const Group& group) const;
    std::span<const ir::NodeId> operands_of(ir::NodeId id, const Group& group) const;
    bool grow(Group& group, SharedPolicy shared);
    Boundary widened(Boundary boundary, ir::NodeId producer, const Group& group) const;
    void add_member(ir::NodeId producer, Group& group, SharedPolicy shared);
    void list_reads(Group& group);
    Match match_of(const Group& group, const std::vector<ir::NodeId>& outputs);
    Match match_of(const Group& group, const Match& anchor);
    void add_steps(const Group& group, int values);
    std::vector<ir::NodeId> shared_values(const Group& group);
    std::vector<int> uses_inside(const Group& group) const;
    bool is_link(ir::NodeId id, int steps) const;
    void skip_chain_links(const Group& group, std::vector<bool>& skipped) const;
    NodeRole role_of(ir::NodeId id) const {
        return role_marks_[id].group == group_ ? role_marks_[id].role : NodeRole::none;
    }
    void set_role(ir::NodeId id, NodeRole role) { role_marks_[id] = {group_, role, 0}; }

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    const FusibleMatches& parts_;
    std::stop_token stop_;
    std::vector<int> uses_;
    std::vector<NodeFacts> node_facts_;
    std::vector<RoleMark> role_marks_;
    std::uint32_t group_ = 0;
    Ancestors ancestors_;
    BodyBuilder body_builder_;
};

}  // namespace cairn::fusion
