#include "fusion/image_matches.hpp"

#include "rewrite/simplify/rewriter.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace cairn::fusion {
namespace {

using ir::NodeId;
using ir::Op;

/// Windows along the spatial axes of an image [B,C,..]: their attributes, and the nodes between them and the image.
struct Windows {
    Windows(NodeId windows, std::size_t count)
        : image(windows), axes(count), kernel(count, 1), padding(2 * count, 0), stride(count, 1), dilation(count, 1) {}

    NodeId image;
    std::size_t axes;
    std::vector<Dim> kernel, padding, stride, dilation;
    std::optional<double> outside{};  ///< the value of the pads
    std::size_t unpadded = 2 + axes;  ///< axes before this one have no pad so far
    std::vector<NodeId> between{};

    Attributes attributes() const {
        return {{"kernel", kernel},
                {"padding", padding},
                {"stride", stride},
                {"dilation", dilation},
                {"value", outside.value_or(0)}};
    }
};

std::size_t axis_in(const ir::GraphData& graph, const ir::Node& node) {
    return simplify::front_axis(graph.node(node.operands[0]), node.attributes.integer("axis"));
}

// Takes one step from the windows towards the image: a window of the last spatial axis still without one, or a pad of
// an axis that has its window, rows before columns as in definitions. False if the node is neither.
bool take(const ir::GraphData& graph, const ir::Node& node, std::size_t& open, Windows& windows) {
    if (node.op == Op::window && open > 0 && axis_in(graph, node) == 1 + open) {
        --open;
        windows.kernel[open] = node.attributes.integer("size");
        windows.stride[open] = node.attributes.integer("stride");
        windows.dilation[open] = node.attributes.integer("dilation");
        return true;
    }
    if (node.op != Op::pad) return false;
    const std::size_t axis = axis_in(graph, node);
    const Dim &before = node.attributes.dims("before")[0], &after = node.attributes.dims("after")[0];
    const double value = node.attributes.number("value");
    if (axis < 2 + open || axis >= windows.unpadded || !before.is_constant() || !after.is_constant()) return false;
    if (windows.outside && *windows.outside != value) return false;
    windows.outside = value;
    windows.unpadded = axis;
    windows.padding[axis - 2] = before;
    windows.padding[axis - 2 + windows.axes] = after;
    return true;
}

std::optional<Windows> windows_at(const ir::GraphData& graph, NodeId node) {
    const std::size_t rank = graph.node(node).shape.size();
    if (graph.node(node).op != Op::window || (rank != 4 && rank != 6 && rank != 8)) return std::nullopt;
    Windows windows(node, rank / 2 - 1);
    std::size_t open = windows.axes;
    while (take(graph, graph.node(windows.image), open, windows)) {
        windows.between.push_back(windows.image);
        windows.image = graph.node(windows.image).operands[0];
    }
    return open == 0 ? std::optional(std::move(windows)) : std::nullopt;
}

/// The op that reads the windows: the match's definition, or the first step of its body.
std::string reader_of(const Match& match) {
    return match.definition == "fused" ? match.body.steps().front().op : match.definition;
}

Match read_from_image(const Match& match, const Definition& definition, const Windows& windows, NodeId image) {
    Match read = match;
    if (match.definition == "fused") {
        std::vector<Step> steps = match.body;
        steps.front().op = definition.name;
        read.body = steps;
    } else {
        read.definition = definition.name;
    }
    const Attributes more = windows.attributes();
    read.attributes.insert(read.attributes.end(), more.begin(), more.end());
    read.inputs[0] = image;
    for (const NodeId id : windows.between)
        if (std::find(read.interior.begin(), read.interior.end(), id) == read.interior.end())
            read.interior.push_back(id);
    std::sort(read.interior.begin(), read.interior.end());
    return read;
}

}  // namespace

std::vector<Match> with_image_matches(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                      std::span<const Definition* const> windowed_definitions,
                                      const std::vector<Match>& matches) {
    std::vector<Match> made;
    for (const Match& match : matches) {
        if (match.inputs.empty()) continue;
        const std::optional<Windows> windows = windows_at(graph, match.inputs[0]);
        if (!windows) continue;
        const std::string reader = reader_of(match);
        const auto reads = [&](const Definition* definition) { return definition->windowed_definition == reader; };
        const auto found = std::find_if(windowed_definitions.begin(), windowed_definitions.end(), reads);
        if (found != windowed_definitions.end())
            made.push_back(read_from_image(match, **found, *windows, classes.value_of(windows->image)));
    }
    return made;
}

}  // namespace cairn::fusion
