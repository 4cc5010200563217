#pragma once

#include "canon/forms.hpp"
#include "fuse/calls.hpp"
#include "fuse/instance.hpp"
#include "fuse/outline.hpp"
#include "fuse/pattern.hpp"
#include "fuse/regions.hpp"
#include "fuse/tiles.hpp"
#include "types/index.hpp"
#include "types/short_list.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::fuse {

/// Finds definitions in one graph. A match is guessed, then proved: the regions of a node and of a pattern's skeleton
/// tell which nodes may be the operands and which numbers the free attributes; then the definition is built on just
/// these operands, and the match holds exactly if the normal form of what it builds is the form of the node. So a wrong
/// guess costs time and nothing else.
///
///     %7 = div %4, %6   with softmax axis=(-1) | f32[R,D]   ->   softmax axis=(-1) (%0) -> (%7)
class Matcher {
public:
    /// Graph, classes and patterns must outlive it.
    Matcher(const ir::GraphData& graph, const Classes& classes, std::span<const Pattern> patterns,
            const std::stop_token& stop = {});
    /// How a tile was found.
    struct Find {
        const Pattern* pattern = nullptr;
        std::size_t reading = 0;  ///< its number
        types::ShortList<ir::NodeId, 4> operands;
    };
    /// What match_at() did: what it found, in the order of its tiles, and all nodes that it looked at, in no order.
    struct Looked {
        std::vector<Find> found;
        std::vector<ir::NodeId> at;
    };

    /// Appends a tile for each definition of which a pattern has `node` as its main output. Of several such patterns
    /// the first counts: definitions list the ones that leave least to others first. Where values looked at have other
    /// spellings, it looks once in each reading.
    Looked match_at(ir::NodeId node, std::vector<Tile>& tiles);
    /// Appends tiles that were found in this way with the attributes of `like`, looking for nothing; false and no tile
    /// where one of them does not make `node`.
    bool match_as(ir::NodeId node, std::span<const Find> found, std::span<const Tile> like, std::vector<Tile>& tiles);

    /// A guess: `pattern` on these operands with these attributes makes `root`.
    struct Attempt {
        const Pattern* pattern;
        ir::NodeId root;
        std::span<const ir::NodeId> operands;
        const Filled& filled;  ///< the definition on such operands
        const Attributes& attributes;
    };
    struct Verdict {
        std::optional<Tile> tile;
        OperandSet blame = everything;  ///< without a tile: operands that are wrong together, whatever the others are
        std::optional<std::size_t>
            unknown;  ///< names the value made of them that the graph has not; one name where only numbers differ
        bool differs_in_numbers = false;  ///< without a tile: other numbers might make the value, or the unknown one
    };
    Verdict prove(const Attempt& attempt);
    /// The form of what an attempt makes, whether the graph has what is computed on the way or not.
    Scaled form_made(const Attempt& attempt);

    /// At how many nodes definitions were looked for.
    std::size_t looks() const noexcept { return look_; }
    /// From here on the guess is kept that came furthest and failed: which part of the definition the graph has not.
    void note_misses() { notes_misses_ = true; }
    const std::string& furthest_miss() const noexcept { return miss_; }

    const ir::GraphData& graph() const noexcept { return graph_; }
    const Classes& classes() const noexcept { return classes_; }
    /// The region from a node in the reading at hand.
    const Region& region_from(ir::NodeId node);
    /// The operands of a node in the reading at hand.
    std::span<const ir::NodeId> operands(ir::NodeId node);
    /// True when both are spellings of one value.
    bool same_value(ir::NodeId a, ir::NodeId b) const { return classes_.value_of(a) == classes_.value_of(b); }
    const Forms& forms() const noexcept { return forms_; }
    Canon& canon() noexcept { return forms_.canon(); }
    /// The stem of a node's form.
    std::size_t stem_of(ir::NodeId node) { return stems_.of(forms_[node].core); }
    Instances& instances() noexcept { return instances_; }
    const NodeTypes& types() const noexcept { return types_; }
    Calls& calls(const Pattern& pattern);
    /// The attributes of the last few matches of a pattern, the newest first: layers are alike.
    const std::vector<Attributes>& known_attributes(const Pattern& pattern) const;
    void remember(const Pattern& pattern, const Attributes& attributes);
    /// What numbers of a float, by their bits, were rounded to (numbers.hpp).
    std::unordered_map<std::uint64_t, double>& rounded(DType dtype) { return rounded_[dtype]; }
    /// mark_of() the op of a node.
    std::uint64_t mark(ir::NodeId node) const { return marks_[node]; }

private:
    /// What tells at first sight that a pattern is not at a node: there are many of them for each node.
    struct Outline {
        const Pattern* pattern;
        TermKind kind;
        ir::Op op;            ///< of an op
        std::uint64_t marks;  ///< that have to be there
    };
    /// What an attempt makes, whatever its root is.
    struct Made {
        const Pattern* pattern = nullptr;
        const Filled* filled = nullptr;
        types::ShortList<ir::NodeId, 4> operands;
        Scaled main;                         ///< its main output, or
        OperandSet blame = 0;                ///< what makes the value
        std::optional<std::size_t> unknown;  ///< that the graph has not, by its name
        bool has_alike = false;              ///< the graph has a value that differs from it in numbers alone
    };

    static std::vector<Outline> outlines_among(std::span<const Pattern> patterns, const ir::GraphData& graph);
    void read(std::size_t number);
    void match_in_reading(ir::NodeId node, std::vector<Tile>& tiles);
    void look_at(std::span<const ir::NodeId> nodes);
    bool is_known_structure(std::size_t structure) const;
    std::size_t name_of(CanonId unknown) const;
    bool stands(const Pattern& pattern, ir::Op op, CanonId core) const;
    Made make(const Attempt& attempt);
    bool form_over(const Attempt& attempt, const std::function<bool(ir::NodeId)>& go_on);
    const Made& made_by(const Attempt& attempt);
    std::optional<Verdict> refusal(const Attempt& attempt);
    std::optional<Tile> tile_of(const Attempt& attempt);
    std::vector<ir::NodeId> interior(const Tile& tile);
    bool depends_on(ir::NodeId node, ir::NodeId ancestor);
    bool computes_twice(const Tile& tile);
    bool makes_product_again(const Attempt& attempt);
    void note(const Attempt& attempt, std::size_t progress, const std::string& reason);

    const ir::GraphData& graph_;
    const Classes& classes_;
    std::span<const Pattern> patterns_;
    std::vector<Outline> outlines_;  // of the patterns that the graph may have
    std::stop_token stop_;
    Forms forms_;
    Stems stems_;
    Features features_;
    CanonId known_terms_;            ///< those of the graph; what attempts make comes after
    types::Index known_structures_;  // terms by structure, of each one
    std::deque<Regions> regions_;    // of each reading, as far as needed
    std::size_t reading_ = 0;        // the number of the one at hand
    std::size_t choices_ = 1;        // the most spellings of a value looked at since match_at began
    Looked looked_;                  // since then
    // The last look in which a node was looked at, and in which its region was.
    std::vector<std::uint32_t> seen_, entered_;
    std::uint32_t look_ = 0, entry_ = 0;
    std::vector<std::uint32_t> passed_;  // the last walk down that came by a node
    std::uint32_t walk_ = 0;
    std::vector<ir::NodeId> open_;
    Instances instances_;
    NodeTypes types_;
    std::vector<std::optional<Calls>> calls_;  // of each pattern
    std::vector<std::vector<Attributes>> known_;
    std::map<DType, std::unordered_map<std::uint64_t, double>> rounded_;
    std::vector<std::uint64_t> marks_;  // of each node
    std::vector<Scaled> made_;          // by the last attempt made
    const Made* last_made_ = nullptr;   // where that is kept
    static constexpr std::size_t attempts_kept = 4096;
    std::vector<Made> kept_;  // each where its hash says, until another comes there: nearby roots try the same
    bool notes_misses_ = false;
    std::size_t progress_ = 0;  // of the furthest miss
    std::string miss_;
};

}  // namespace cairn::inline v0::fuse
