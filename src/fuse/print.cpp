#include "fuse/tiles.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::fuse {
namespace {

std::string list(const Nodes& nodes) {
    std::string text;
    for (const ir::NodeId id : nodes) text += fmt::format("{}%{}", text.empty() ? "" : ", ", id);
    return "(" + text + ")";
}

// `layer_norm eps=1e-05`, `elementwise {2=add(0,1):f32} results (2)`: as Problems are written, without operands.
std::string work(const Tile& tile) {
    Problem problem;
    problem.definition = tile.definition;
    problem.attributes = tile.attributes;
    problem.body = tile.body;
    problem.inputs.resize(tile.inputs.size());
    problem.results = tile.results;
    const std::string text = to_string(problem);
    std::string head = text.substr(0, text.find(" |"));
    if (!tile.results.empty()) {
        head += " results (";
        for (std::size_t i = 0; i < tile.results.size(); ++i)
            head += fmt::format("{}{}", i == 0 ? "" : ",", tile.results[i]);
        head += ")";
    }
    return head;
}

}  // namespace

std::string to_string(const std::vector<Tile>& tiles) {
    std::string text;
    for (const Tile& tile : tiles) {
        text += fmt::format("{} {} -> {}", work(tile), list(tile.inputs), list(tile.outputs));
        if (!tile.interior.empty()) text += " over " + list(tile.interior);
        text += "\n";
    }
    return text;
}

}  // namespace cairn::inline v0::fuse
