#include "fuse/body_parts.hpp"

#include "fuse/pattern.hpp"
#include "ir/op_table.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

namespace cairn::inline v0::fuse {

using ir::NodeId;

namespace {

// As it is written, however large the forms of its operands are.
bool is_product(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.op == ir::Op::matmul && graph.node(node.operands[0]).shape.size() >= 2 &&
           graph.node(node.operands[1]).shape.size() == 2;
}

}  // namespace

BodyParts::BodyParts(const ir::GraphData& graph, const canon::Forms& forms, const expand::Classes& classes,
                     std::span<const Pattern> patterns, std::vector<std::vector<Tile>>& matches,
                     const std::stop_token& stop)
    : classes_(&classes),
      steps_(matches.size()),
      products_(matches.size()),
      inside_(matches.size()),
      has_form_of_value_(matches.size()) {
    std::map<std::string_view, InBody> part_of;
    for (const Pattern& pattern : patterns) part_of.emplace(pattern.definition->name, pattern.definition->in_body);
    for (NodeId id = 0; id < matches.size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        const auto first = std::stable_partition(matches[id].begin(), matches[id].end(), [&](const Tile& tile) {
            return part_of.at(tile.definition) != InBody::product;
        });
        products_[id].assign(std::make_move_iterator(first), std::make_move_iterator(matches[id].end()));
        matches[id].erase(first, matches[id].end());
        if (products_[id].empty() && is_product(graph, id)) {
            const ir::Node& node = graph.node(id);
            Tile& product = products_[id].emplace_back();
            for (const NodeId operand : node.operands) product.inputs.push_back(classes.value_of(operand));
        }
        for (Tile& product : products_[id]) product.definition = ir::info(ir::Op::matmul).name;
        for (const Tile& tile : matches[id])
            if (part_of.at(tile.definition) == InBody::head) products_[id].push_back(tile);
        has_form_of_value_[id] = !products_[id].empty() && forms.canon().same(forms[id], forms[classes.value_of(id)]);
        for (const Tile& tile : matches[id]) {
            if (part_of.at(tile.definition) != InBody::step || steps_[id] != nullptr) continue;
            steps_[id] = &tile;
            for (const NodeId inside : tile.interior) inside_[inside] = true;
        }
    }
}

std::span<const Tile> BodyParts::products_at(NodeId node) const {
    return products_.empty() ? std::span<const Tile>() : products_[node];
}

std::vector<const Tile*> BodyParts::products_of(NodeId value) const {
    std::vector<const Tile*> found;
    if (products_.empty()) return found;
    for (const NodeId spelling : classes_->spellings(classes_->value_of(value)))
        for (const Tile& tile : products_[spelling])
            if (has_form_of_value_[spelling] && std::none_of(found.begin(), found.end(), [&](const Tile* known) {
                    return known->definition == tile.definition && known->inputs == tile.inputs &&
                           known->attributes == tile.attributes;
                }))
                found.push_back(&tile);
    return found;
}

}  // namespace cairn::inline v0::fuse
