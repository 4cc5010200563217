#include "select/known_tiles.hpp"

#include "types/hash.hpp"

#include <algorithm>

namespace cairn::inline v0::select {

using ir::NodeId;

namespace {

std::size_t hash_of_tile(const ShortProblem& work, std::span<const std::uint32_t> looks, bool cheapest) {
    std::size_t hash = work.hash();
    types::mix(hash, cheapest ? 1 : 0);
    for (const std::uint32_t look : looks) types::mix(hash, look);
    return hash;
}

}  // namespace

ShortProblem KnownTiles::work_of(const fuse::Tile& tile) {
    return {tile.definition, &tile.attributes, &tile.body, tile.results, {}, {}};
}

/// The last one tells how many of them are those of inputs.
KnownTiles::List KnownTiles::looks_of(const fuse::Tile& tile) {
    List looks;
    for (const NodeId input : tile.inputs) looks.push_back(looks_.of_value(input));
    for (const NodeId output : tile.outputs) looks.push_back(looks_.of_node(output));
    looks.push_back(static_cast<std::uint32_t>(tile.inputs.size()));
    return looks;
}

const KnownTiles::Known* KnownTiles::find(const fuse::Tile& tile, bool cheapest) {
    const ShortProblem work = work_of(tile);
    const List looks = looks_of(tile);
    const Known* found = nullptr;
    index_.each(hash_of_tile(work, looks, cheapest), [&](std::uint32_t at) {
        const Entry& entry = entries_[at];
        if (entry.looks == looks && entry.cheapest == cheapest && entry.work.words() == work) found = &entry.known;
    });
    return found;
}

void KnownTiles::add(const fuse::Tile& tile, bool cheapest, const std::vector<Candidate>& found,
                     const Questions& asked) {
    Known known{found, {}, asked};
    for (const Candidate& candidate : found) {
        const ir::NodeId* input = tile.inputs.end() - candidate.sources.size();
        for (const Source& source : candidate.sources) {
            const std::optional<Reading> reading = reading_of(source, *input++);
            if (!reading) return;
            known.readings.push_back(*reading);
        }
    }
    const ShortProblem work = work_of(tile);
    List looks = looks_of(tile);
    index_.add(hash_of_tile(work, looks, cheapest), static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back(work, std::move(looks), cheapest, std::move(known), pool_);
}

std::optional<KnownTiles::Reading> KnownTiles::reading_of(const Source& source, NodeId input) const {
    const std::size_t spellings = classes_.spellings(input).size();
    for (const Reading::As as : {Reading::As::is, Reading::As::widened, Reading::As::rounded})
        for (std::uint32_t spelling = 0; spelling < spellings; ++spelling)
            if (node_of(input, {spelling, as}) == source.node) return Reading{spelling, as};
    return std::nullopt;
}

NodeId KnownTiles::node_of(NodeId input, const Reading& reading) const {
    if (reading.as == Reading::As::rounded) return classes_.rounded(input).value_or(input);
    const NodeId spelling = classes_.spellings(input)[reading.spelling];
    const auto& operands = graph_.node(spelling).operands;
    return reading.as == Reading::As::is ? spelling : operands.empty() ? input : operands[0];
}

void KnownTiles::forget() {
    entries_.clear();
    index_ = {};
}

}  // namespace cairn::inline v0::select
