#include "fuse/proof.hpp"

#include "fuse/moved_results.hpp"
#include "ir/build.hpp"
#include "ir/op_table.hpp"
#include "simplify/simplify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::inline v0::fuse {
namespace {

using canon::Forms, canon::Law, canon::Scaled;
using ir::NodeId;

TensorDesc type_of(const ir::Node& node) { return TensorDesc::dense(node.dtype, node.shape); }

Problem problem_of(const ir::GraphData& graph, const Tile& tile) {
    Problem problem;
    problem.definition = tile.definition;
    problem.attributes = tile.attributes;
    problem.body = tile.body;
    problem.results = tile.results;
    for (const NodeId id : tile.inputs) problem.inputs.push_back(type_of(graph.node(id)));
    for (const NodeId id : tile.outputs) problem.outputs.push_back(type_of(graph.node(id)));
    return problem;
}

// Versions of a state are no function of their operands alone.
bool is_state_change(const ir::Node& node) { return node.op == ir::Op::state_append || node.op == ir::Op::state_write; }

std::string fault_in_ids(const ir::GraphData& graph, const Tile& tile) {
    if (tile.outputs.empty()) return "has no output";
    if (!tile.moved.empty() && tile.moved.size() != tile.outputs.size()) return "moves other results than it has";
    std::vector<const Nodes*> lists{&tile.inputs, &tile.outputs, &tile.interior};
    for (const Nodes& moved : tile.moved) lists.push_back(&moved);
    for (const Nodes* list : lists)
        for (const NodeId id : *list)
            if (id >= graph.nodes().size())
                return fmt::format("names node %{}, the graph has {}", id, graph.nodes().size());
    for (const NodeId id : tile.outputs)
        if (std::find(tile.inputs.begin(), tile.inputs.end(), id) != tile.inputs.end())
            return fmt::format("provides %{}, which it reads", id);
    return {};
}

// The tile's definition as the graph may hold it: as it is written, or simplified.
struct Rebuilt {
    std::shared_ptr<ir::GraphData> graph;
    std::vector<std::optional<NodeId>> inputs;
};

Rebuilt as_written(const Graph& built, std::size_t inputs) {
    Rebuilt rebuilt{built.data(), {}};
    for (NodeId id = 0; id < inputs; ++id) rebuilt.inputs.emplace_back(id);  // graph_of makes the inputs first
    return rebuilt;
}

Rebuilt simplified(const Graph& built, std::size_t inputs) {
    simplify::Simplified simple = simplify::simplify(*built.data());
    simple.map.resize(inputs);
    return {std::move(simple.graph), std::move(simple.map)};
}

// What the tile's definition makes of its operands, beside what the graph has there.
std::string fault_in_values(const ir::GraphData& graph, const Tile& tile, Forms& forms, const Rebuilt& definition) {
    std::vector<NodeId> inputs;
    std::vector<Scaled> values;
    for (std::size_t i = 0; i < tile.inputs.size(); ++i) {
        if (!definition.inputs[i]) continue;
        inputs.push_back(*definition.inputs[i]);
        values.push_back(forms[tile.inputs[i]]);
    }
    std::vector<Scaled> made;
    canon::forms_over(*definition.graph, inputs, values, forms.canon(), made, [](NodeId) { return true; });
    const auto& outputs = definition.graph->outputs();
    if (outputs.size() != tile.outputs.size())
        return fmt::format("provides {} values, its definition makes {}", tile.outputs.size(), outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ir::Node &node = graph.node(tile.outputs[i]), &rebuilt = definition.graph->node(outputs[i].node);
        if (node.dtype != rebuilt.dtype || node.shape != rebuilt.shape)
            return fmt::format("provides {} as %{}, its definition makes {}", to_string(node.dtype, node.shape),
                               tile.outputs[i], to_string(rebuilt.dtype, rebuilt.shape));
        if (!forms.canon().same(made[outputs[i].node], forms[tile.outputs[i]]))
            return fmt::format("does not compute %{}", tile.outputs[i]);
    }
    return {};
}

/// What lies between a tile's inputs and outputs, simplified, as a graph of its own.
struct Part {
    std::shared_ptr<ir::GraphData> graph;
    Tile tile;  ///< with the nodes of this graph
};

/// Nodes that the outputs are computed from, those of the inputs left out.
std::vector<bool> nodes_between(const ir::GraphData& graph, const std::vector<bool>& is_input, const Nodes& outputs) {
    std::vector<bool> needed(graph.nodes().size(), false);
    for (const NodeId output : outputs) needed[output] = true;
    for (NodeId id = static_cast<NodeId>(needed.size()); id-- > 0;)
        if (needed[id] && !is_input[id])
            for (const NodeId operand : graph.node(id).operands) needed[operand] = true;
    return needed;
}

/// Nothing where a leaf of the graph that is no input takes part, but for constants and counts.
std::optional<Part> simplified_part(const ir::GraphData& graph, const expand::Classes& classes, const Tile& tile) {
    std::vector<NodeId> map(graph.nodes().size(), 0);
    auto part = std::make_shared<ir::GraphData>(graph.name(), graph.symbols());
    std::map<NodeId, NodeId> input_of;  // by value
    for (std::size_t i = 0; i < tile.inputs.size(); ++i) {
        ir::Node leaf;
        leaf.op = ir::Op::input;
        leaf.name = fmt::format("input{}", i);
        leaf.dtype = graph.node(tile.inputs[i]).dtype;
        leaf.shape = graph.node(tile.inputs[i]).shape;
        const NodeId made = part->intern(std::move(leaf));
        // An output of its own, so that it stays.
        part->add_output(fmt::format("input{}", i), made);
        input_of.emplace(classes.value_of(tile.inputs[i]), made);
    }
    std::vector<bool> is_input(graph.nodes().size(), false);
    for (NodeId id = 0; id < is_input.size(); ++id) is_input[id] = input_of.contains(classes.value_of(id));
    for (const NodeId output : tile.outputs)
        if (is_input[output]) return std::nullopt;
    const std::vector<bool> needed = nodes_between(graph, is_input, tile.outputs);
    for (NodeId id = 0; id < needed.size(); ++id) {
        if (!needed[id]) continue;
        const ir::Node& node = graph.node(id);
        const bool is_leaf = ir::is_given(node) && node.op != ir::Op::constant;
        if (!is_input[id] && (is_leaf || ir::is(node, ir::OpClass::effect))) return std::nullopt;
        map[id] = is_input[id] ? input_of.at(classes.value_of(id)) : ir::copy_node(node, map, *part);
    }
    for (std::size_t o = 0; o < tile.outputs.size(); ++o)
        part->add_output(fmt::format("output{}", o), map[tile.outputs[o]]);
    Part result{simplify::simplify(*part).graph, tile};
    const auto& ends = result.graph->outputs();
    for (std::size_t i = 0; i < tile.inputs.size(); ++i) result.tile.inputs[i] = ends[i].node;
    for (std::size_t o = 0; o < tile.outputs.size(); ++o) result.tile.outputs[o] = ends[tile.inputs.size() + o].node;
    return result;
}

/// The tile that leaves what it computes unmoved, and whole.
Tile unmoved(const Tile& tile) {
    Tile plain = tile;
    plain.outputs = tile.computed();
    plain.moved.clear();
    if (!tile.attributes.has("columns")) return plain;
    plain.outputs = {tile.outputs[0]};
    plain.results = {tile.results[0]};
    plain.attributes.clear();
    return plain;
}

/// Whether a tile that computes columns of its first output makes these.
std::string fault_in_columns(const ir::GraphData& graph, const expand::Classes& classes, const Tile& tile) {
    if (!tile.attributes.has("columns")) return {};
    const std::vector<Dim>& first = tile.attributes.dims("columns");
    const Nodes computed = tile.computed();
    const auto is_as_told = [&](std::size_t i) {
        const ir::Node& node = graph.node(computed[i]);
        if (tile.results[i] != tile.results[0]) return false;
        if (i == 0) return first[0] == Dim(0);
        return cuts_columns(node) && node.attributes.dims("start").at(0) == first[i] &&
               classes.value_of(node.operands[0]) == classes.value_of(computed[0]);
    };
    if (tile.attributes.size() != 1 || first.size() != computed.size() || tile.results.size() != computed.size())
        return "tells other columns than it has outputs";
    for (std::size_t i = 0; i < computed.size(); ++i)
        if (!is_as_told(i)) return fmt::format("does not compute %{}", computed[i]);
    return {};
}

/// Whether what is moved becomes an output. Spellings of one value were proved where they were joined.
std::string fault_in_moves(const ir::GraphData& graph, const expand::Classes& classes, NodeId output,
                           const Nodes& moved, const Forms& forms) {
    const std::optional<NodeId> wanted = moved_into(graph.node(output));
    if (!wanted) return fmt::format("provides %{}, to which nothing is moved", output);
    NodeId at = moved[0];
    const auto is_same = [&](NodeId other) {
        const ir::Node &a = graph.node(at), &b = graph.node(other);
        if (classes.value_of(at) == classes.value_of(other)) return true;
        return a.dtype == b.dtype && a.shape == b.shape && forms.canon().same(forms[at], forms[other]);
    };
    for (std::size_t i = 1; i < moved.size(); at = moved[i++]) {
        const ir::Node& move = graph.node(moved[i]);
        if (!keeps_all(move.op) || !is_same(move.operands[0])) return fmt::format("%{} is not %{} moved", moved[i], at);
    }
    return is_same(*wanted) ? std::string() : fmt::format("%{} holds something else", output);
}

}  // namespace

Forms& Proof::forms_under(Laws laws) {
    for (auto& [known, forms] : forms_)
        if (known == laws) return forms;
    return forms_.emplace_back(laws, Forms(graph_, laws)).second;
}

std::string Proof::fault(const Tile& tile, Laws laws) {
    if (std::string fault = fault_in_ids(graph_, tile); !fault.empty()) return fault;
    if (!tile.moved.empty()) {
        for (std::size_t i = 0; i < tile.outputs.size(); ++i) {
            if (!tile.is_moved(i)) continue;
            std::string fault = fault_in_moves(graph_, classes_, tile.outputs[i], tile.moved[i], forms_under(laws));
            if (!fault.empty()) return fault;
        }
        std::string fault = fault_in_columns(graph_, classes_, tile);
        return fault.empty() ? this->fault(unmoved(tile), laws) : fault;
    }
    if (is_state_change(graph_.node(tile.outputs.front()))) return {};
    try {
        const Graph built = ir::graph_of(problem_of(graph_, tile), definitions_);
        Forms& forms = forms_under(laws);
        const std::string fault = fault_in_values(graph_, tile, forms, as_written(built, tile.inputs.size()));
        if (fault.empty()) return fault;
        const Rebuilt simple = simplified(built, tile.inputs.size());
        if (fault_in_values(graph_, tile, forms, simple).empty()) return {};
        // The graph may not have been simplified: its normal form then holds what that takes away.
        const std::optional<Part> part = simplified_part(graph_, classes_, tile);
        if (!part) return fault;
        Forms part_forms(*part->graph, laws);
        return fault_in_values(*part->graph, part->tile, part_forms, simple).empty() ? std::string() : fault;
    } catch (const InternalError&) { throw; } catch (const Error& error) {
        return fmt::format("cannot be rebuilt: {}", error.what());
    }
}

std::string Proof::fault(const Tile& tile) {
    std::string fault = this->fault(tile, Laws::of_definitions());
    return fault.empty() || this->fault(tile, Laws::all()).empty() ? std::string() : fault;
}

Laws Proof::laws_of(const Tile& tile) {
    if (!tile.moved.empty()) {
        Laws laws = laws_of(unmoved(tile));
        for (std::size_t i = 0; i < tile.outputs.size(); ++i) {
            if (!tile.is_moved(i)) continue;
            for (const NodeId inside : tile.moved[i]) laws = laws | classes_.laws_of(inside);
            if (tile.attributes.has("columns"))
                laws = laws | classes_.laws_of(graph_.node(tile.moved[i][0]).operands[0]);
            laws = laws | classes_.laws_of(tile.outputs[i]);
        }
        return laws;
    }
    Tile plain = tile;
    for (NodeId& output : plain.outputs) output = classes_.value_of(output);
    constexpr std::array fewest_first{Laws{},
                                      Laws{Law::masked},
                                      Laws{Law::distributed},
                                      Laws{Law::reassociated},
                                      Laws{Law::distributed, Law::masked},
                                      Laws{Law::distributed, Law::reassociated},
                                      Laws::all()};
    for (const Laws laws : fewest_first)
        if (fault(plain, laws).empty()) return laws;
    // As it is spelled here, and by what that rests on: the whole of them may be beyond the size up to which forms
    // tell.
    Laws of_spellings;
    for (const NodeId output : tile.outputs) of_spellings = of_spellings | classes_.laws_of(output);
    for (const Laws laws : fewest_first)
        if (fault(tile, laws).empty()) return laws | of_spellings;
    throw InternalError("fuse", "a tile that nothing proves: " + to_string(std::vector<Tile>{tile}));
}

}  // namespace cairn::inline v0::fuse
