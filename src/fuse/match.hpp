#pragma once

#include "fuse/forms.hpp"
#include "fuse/instance.hpp"
#include "fuse/pattern.hpp"
#include "fuse/regions.hpp"
#include "fuse/tiles.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cairn::inline v0::fuse {

/// Finds definitions in one graph. A match is guessed, then proved: the regions of a node and of a pattern's skeleton tell which nodes may be the
/// operands and which numbers the free attributes; then the definition is built on just these operands, and the match holds exactly if the
/// normal form of what it builds is the form of the node. So a wrong guess costs time and nothing else.
///
///     %7 = div %4, %6   with softmax axis=(-1) | f32[R,D]   ->   softmax axis=(-1) (%0) -> (%7)
class Matcher {
public:
    Matcher(const ir::GraphData& graph, std::span<const Pattern> patterns);
    /// Appends a tile for each pattern whose main output is `node`.
    void match_at(ir::NodeId node, std::vector<Tile>& tiles);

    // match_search.cpp
    /// Whether `tile` is what its definition says, checked anew.
    struct Attempt {
        const Pattern* pattern;
        ir::NodeId root;
        std::vector<ir::NodeId> operands;
        Attributes attributes;
    };
    std::optional<Tile> prove(const Attempt& attempt);

    const ir::GraphData& graph() const noexcept { return graph_; }
    Regions& regions() noexcept { return regions_; }
    const Forms& forms() const noexcept { return forms_; }
    Instances& instances() noexcept { return instances_; }
    /// The attributes of earlier matches of a pattern: layers are alike.
    std::vector<Attributes>& known_attributes(const Pattern& pattern);

private:
    std::vector<ir::NodeId> interior(const Tile& tile) const;
    bool depends_on(ir::NodeId node, ir::NodeId ancestor) const;

    const ir::GraphData& graph_;
    std::span<const Pattern> patterns_;
    Forms forms_;
    Regions regions_;
    Instances instances_;
    std::vector<std::vector<Attributes>> known_;
    std::vector<Scaled> made_;
};

}  // namespace cairn::inline v0::fuse
