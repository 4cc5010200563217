#include "fuse/proof.hpp"
#include "fuse/tiles.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::fuse {

std::string verify(const ir::GraphData& graph, const expand::Classes& classes, const std::vector<Tile>& tiles,
                   std::span<const Definition> definitions) {
    Proof proof(graph, classes, definitions);
    for (const Tile& tile : tiles) {
        const std::string fault = proof.fault(tile);
        if (fault.empty()) continue;
        std::string text = to_string(std::vector<Tile>{tile});
        text.pop_back();
        return fmt::format("tile {}: {}", text, fault);
    }
    return {};
}

}  // namespace cairn::inline v0::fuse
