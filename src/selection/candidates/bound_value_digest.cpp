#include "selection/candidates/bound_value_digest.hpp"

#include "graph/ir/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::selection {
namespace {

template <typename T>
void append_bytes(std::string& text, const std::vector<T>& values) {
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// The node itself, without its operands, as text.
std::string content_of(const ir::Node& node) {
    std::string text =
        fmt::format("{} {} {}", ir::info(node.op).name, node.name, cairn::to_string(node.dtype, node.shape));
    for (const Attribute& attribute : node.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            for (const Dim& dim : *list) text += ' ' + cairn::to_string(dim);
    if (node.values != nullptr) append_bytes(text, *node.values);
    if (node.exact_integers != nullptr) append_bytes(text, *node.exact_integers);
    return text;
}

}  // namespace

std::vector<std::string> bound_value_digests(const ir::GraphData& graph, const std::stop_token& stop) {
    const std::vector<bool> bound = ir::bind_time_nodes(graph);
    std::vector<std::string> digests(graph.nodes().size());
    for (ir::NodeId id = 0; id < digests.size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("select");
        const ir::Node& node = graph.node(id);
        const auto is_fixed = [](const Dim& size) { return size.is_constant(); };
        const auto is_once = [&](ir::NodeId operand) { return !digests[operand].empty(); };
        if (!bound[id] || !std::all_of(node.shape.begin(), node.shape.end(), is_fixed) ||
            !std::all_of(node.operands.begin(), node.operands.end(), is_once))
            continue;
        std::string text = content_of(node);
        for (const ir::NodeId operand : node.operands) text += ' ' + digests[operand];
        digests[id] = cairn::to_string(digest(text));
    }
    return digests;
}

}  // namespace cairn::selection
