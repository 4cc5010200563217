#pragma once

#include "expand/classes.hpp"
#include "fuse/tiles.hpp"
#include "select/candidate.hpp"
#include "select/looks.hpp"
#include "types/index.hpp"
#include "types/short_list.hpp"

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

/// What was found for a tile holds for those that differ from it in the numbers of nodes only.
namespace cairn::inline v0::select {

class Question;

/// Tiles that kernels were asked about. Those of equal layers are found again.
class KnownTiles {
public:
    using Questions = types::ShortList<Question*, 4>;
    /// As what an input of a tile is read: one of its spellings, what that one widens, or the value rounded.
    struct Reading {
        enum class As : std::uint8_t { is, widened, rounded };
        std::uint32_t spelling = 0;
        As as = As::is;
    };
    /// What was found for a tile, and what was asked. Sources are the last inputs of the tile, in their order.
    struct Known {
        std::vector<Candidate> found;
        std::vector<Reading> readings;  ///< of the sources of each of these
        Questions asked;
    };

    /// All must outlive it.
    KnownTiles(const ir::GraphData& graph, const expand::Classes& classes, Looks& looks)
        : graph_(graph), classes_(classes), looks_(looks) {}

    /// What was found for a tile that looks like this one, where as many candidates were wanted; null where none was.
    const Known* find(const fuse::Tile& tile, bool cheapest);
    /// Notes what was found for a tile.
    void add(const fuse::Tile& tile, bool cheapest, const std::vector<Candidate>& found, const Questions& asked);
    /// The node that an input is read as; itself where it is not there.
    ir::NodeId node_of(ir::NodeId input, const Reading& reading) const;
    /// How many differ.
    std::size_t size() const noexcept { return entries_.size(); }
    /// From here on something else may be found.
    void forget();

private:
    using List = types::ShortList<std::uint32_t, 8>;
    struct Entry {
        Entry(const ShortProblem& tile, List seen_as, bool only_cheapest, Known what, std::pmr::memory_resource& pool)
            : work(tile, pool), looks(std::move(seen_as)), cheapest(only_cheapest), known(std::move(what)) {}
        KeptProblem work;  // what the tile computes, of whatever
        List looks;        // of its inputs and its outputs
        bool cheapest;
        Known known;
    };

    static ShortProblem work_of(const fuse::Tile& tile);
    List looks_of(const fuse::Tile& tile);
    std::optional<Reading> reading_of(const Source& source, ir::NodeId input) const;

    const ir::GraphData& graph_;
    const expand::Classes& classes_;
    Looks& looks_;
    std::pmr::monotonic_buffer_resource pool_;
    std::deque<Entry> entries_;
    types::Index index_;  // of these
};

}  // namespace cairn::inline v0::select
