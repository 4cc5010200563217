#include "tests/fuse/tile_check.hpp"

#include "cairn/composites.hpp"
#include "fuse/pattern.hpp"
#include "ir/build.hpp"
#include "kernels/definitions.hpp"
#include "meaning/interpret.hpp"
#include "simplify/simplify.hpp"
#include "tests/ir/random_graph.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::test {
namespace {

std::vector<Definition> make_definitions() {
    std::vector<Definition> list = kernels::definitions();
    for (Definition& definition : list)
        if (definition.name == "rope" && definition.patterns.empty())
            definition.patterns = {"rope base=? | f32[T,D] i32[T]"};
    return list;
}

// Largest magnitude, so that a tolerance can be relative to it.
double size_of_values(const meaning::Value& value) {
    double size = 1;
    for (const double element : value.data)
        if (std::isfinite(element)) size = std::max(size, std::fabs(element));
    return size;
}

std::string tile_fault(const Proposed& proposed, const fuse::Tile& tile, std::span<const meaning::Value> nodes,
                       std::span<const std::int64_t> sizes, double tolerance) {
    Problem problem;
    problem.definition = tile.definition;
    problem.attributes = tile.attributes;
    problem.body = tile.body;
    problem.results = tile.results;
    meaning::Inputs inputs;
    for (std::size_t i = 0; i < tile.inputs.size(); ++i) {
        const meaning::Value& value = nodes[tile.inputs[i]];
        problem.inputs.push_back(TensorDesc::dense(value.dtype, Shape(value.shape.begin(), value.shape.end())));
        inputs.tensors["in" + std::to_string(i)] = value;
    }
    for (const ir::NodeId output : tile.computed()) {
        const meaning::Value& value = nodes[output];
        problem.outputs.push_back(TensorDesc::dense(value.dtype, Shape(value.shape.begin(), value.shape.end())));
    }
    const Graph graph = ir::graph_of(at_sizes(problem, sizes), definitions());
    const auto results = meaning::interpret(*graph.data(), inputs);
    const fuse::Nodes computed = tile.computed();
    for (std::size_t i = 0; i < computed.size(); ++i) {
        const meaning::Value& expected = nodes[computed[i]];
        const std::string text =
            difference(results.outputs.at("out" + std::to_string(i)), expected, tolerance * size_of_values(expected));
        if (!text.empty()) return summary(proposed, tile) + " output " + std::to_string(i) + " " + text;
    }
    return {};
}

}  // namespace

const std::vector<Definition>& definitions() {
    static const std::vector<Definition> list = make_definitions();
    return list;
}

Proposed proposed(const Graph& graph) {
    Proposed result;
    result.graph = simplify::simplify(*graph.data()).graph;
    static const fuse::Patterns patterns = fuse::patterns_of(definitions(), fuse::most_axes + 1);
    result.tiles = fuse::propose(*result.graph, patterns);
    return result;
}

const fuse::Tile* tile_at_output(const Proposed& proposed, std::string_view definition) {
    for (const ir::Output& output : proposed.graph->outputs())
        for (const fuse::Tile& tile : proposed.tiles)
            if (output.name == "y" && tile.definition == definition && tile.computed().back() == output.node)
                return &tile;
    return nullptr;
}

const fuse::Tile* tile_that_is(const Proposed& proposed, std::string_view wanted) {
    for (const ir::Output& output : proposed.graph->outputs())
        for (const fuse::Tile& tile : proposed.tiles)
            if (output.name == "y" && tile.computed().back() == output.node && summary(proposed, tile) == wanted)
                return &tile;
    return nullptr;
}

std::string work_of(const fuse::Tile& tile) {
    std::string work = tile.definition;
    if (work == "fused")
        for (const Step& step : tile.body.steps()) work += " " + step.op;
    return work;
}

std::string tiles_fault(const Proposed& proposed, std::uint64_t seed, double tolerance) {
    for (const auto& sizes : random_sizes(*proposed.graph, 3, seed)) {
        const auto nodes = meaning::interpret_nodes(*proposed.graph, random_inputs(*proposed.graph, sizes, seed));
        std::vector<std::int64_t> list;
        for (const auto& symbol : proposed.graph->symbols()->list()) list.push_back(sizes.at(symbol.name));
        for (const fuse::Tile& tile : proposed.tiles) {
            const std::string text = tile_fault(proposed, tile, nodes, list, tolerance);
            if (!text.empty()) return text;
        }
    }
    return {};
}

std::string summary(const Proposed& proposed, const fuse::Tile& tile) {
    std::string text = fuse::to_string({tile});
    text = text.substr(0, text.find(" ("));
    std::string operands;
    for (const ir::NodeId input : tile.inputs) {
        const std::string& name = proposed.graph->node(input).name;
        operands += (operands.empty() ? "" : ", ") + (name.empty() ? "%" + std::to_string(input) : name);
    }
    return text + " (" + operands + ")";
}

}  // namespace cairn::test
