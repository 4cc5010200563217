#include "fusion/match_verifier.hpp"

#include "fusion/moved_results.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"
#include "rewrite/simplify/simplify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::fusion {
namespace {

using ir::NodeId;
using normal_form::NormalForms, normal_form::Law, normal_form::ScaledTerm;

TensorDesc type_of(const ir::Node& node) { return TensorDesc::dense(node.dtype, node.shape); }

Problem problem_of(const ir::GraphData& graph, const Match& match) {
    Problem problem;
    problem.definition = match.definition;
    problem.attributes = match.attributes;
    problem.body = match.body;
    problem.results = match.results;
    for (const NodeId id : match.inputs) problem.inputs.push_back(type_of(graph.node(id)));
    for (const NodeId id : match.outputs) problem.outputs.push_back(type_of(graph.node(id)));
    return problem;
}

// A state version is not a function of its operands alone.
bool is_state_change(const ir::Node& node) { return node.op == ir::Op::state_append || node.op == ir::Op::state_write; }

std::string fault_in_ids(const ir::GraphData& graph, const Match& match) {
    if (match.outputs.empty()) return "has no output";
    if (!match.moved.empty() && match.moved.size() != match.outputs.size()) return "moves results it does not have";
    std::vector<const Nodes*> lists{&match.inputs, &match.outputs, &match.interior};
    for (const Nodes& moved : match.moved) lists.push_back(&moved);
    for (const Nodes* list : lists)
        for (const NodeId id : *list)
            if (id >= graph.nodes().size())
                return fmt::format("names node %{}, the graph has {}", id, graph.nodes().size());
    for (const NodeId id : match.outputs)
        if (std::find(match.inputs.begin(), match.inputs.end(), id) != match.inputs.end())
            return fmt::format("provides %{}, which it reads", id);
    return {};
}

// A match's definition in the forms that the graph may contain: as written, or simplified.
struct Rebuilt {
    std::shared_ptr<ir::GraphData> graph;
    std::vector<std::optional<NodeId>> inputs;
};

Rebuilt unsimplified(const Graph& built, std::size_t inputs) {
    Rebuilt rebuilt{built.data(), {}};
    for (NodeId id = 0; id < inputs; ++id) rebuilt.inputs.emplace_back(id);  // problem_graph makes the inputs first
    return rebuilt;
}

Rebuilt simplified(const Graph& built, std::size_t inputs) {
    simplify::Simplified simple = simplify::simplify(*built.data());
    simple.map.resize(inputs);
    return {std::move(simple.graph), std::move(simple.map)};
}

// Compares the values that the match's definition computes from its operands with those of the graph.
std::string fault_in_values(const ir::GraphData& graph, const Match& match, NormalForms& forms,
                            const Rebuilt& definition) {
    std::vector<NodeId> inputs;
    std::vector<ScaledTerm> values;
    for (std::size_t i = 0; i < match.inputs.size(); ++i) {
        if (!definition.inputs[i]) continue;
        inputs.push_back(*definition.inputs[i]);
        values.push_back(forms[match.inputs[i]]);
    }
    std::vector<ScaledTerm> made;
    normal_form::normalize_graph(*definition.graph, inputs, values, forms.normalizer(), made,
                                 [](NodeId) { return true; });
    const auto& outputs = definition.graph->outputs();
    if (outputs.size() != match.outputs.size())
        return fmt::format("provides {} values, its definition makes {}", match.outputs.size(), outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ir::Node &node = graph.node(match.outputs[i]), &rebuilt = definition.graph->node(outputs[i].node);
        if (node.dtype != rebuilt.dtype || node.shape != rebuilt.shape)
            return fmt::format("provides {} as %{}, its definition makes {}", to_string(node.dtype, node.shape),
                               match.outputs[i], to_string(rebuilt.dtype, rebuilt.shape));
        if (!forms.normalizer().same(made[outputs[i].node], forms[match.outputs[i]]))
            return fmt::format("does not compute %{}", match.outputs[i]);
    }
    return {};
}

/// The nodes between a match's inputs and outputs, simplified, as a graph of its own.
struct MatchSubgraph {
    std::shared_ptr<ir::GraphData> graph;
    Match match;  ///< with the nodes of this graph
};

/// The nodes from which the outputs are computed, back to the inputs.
std::vector<bool> nodes_between(const ir::GraphData& graph, const std::vector<bool>& is_input, const Nodes& outputs) {
    std::vector<bool> needed(graph.nodes().size(), false);
    for (const NodeId output : outputs) needed[output] = true;
    for (NodeId id = static_cast<NodeId>(needed.size()); id-- > 0;)
        if (needed[id] && !is_input[id])
            for (const NodeId operand : graph.node(id).operands) needed[operand] = true;
    return needed;
}

/// Nothing if the subgraph contains a leaf that is not an input, except constants and iotas.
std::optional<MatchSubgraph> simplified_subgraph(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                                 const Match& match) {
    std::vector<NodeId> map(graph.nodes().size(), 0);
    auto part = std::make_shared<ir::GraphData>(graph.name(), graph.symbols());
    std::map<NodeId, NodeId> input_of;  // by value
    for (std::size_t i = 0; i < match.inputs.size(); ++i) {
        ir::Node leaf;
        leaf.op = ir::Op::input;
        leaf.name = fmt::format("input{}", i);
        leaf.dtype = graph.node(match.inputs[i]).dtype;
        leaf.shape = graph.node(match.inputs[i]).shape;
        const NodeId made = part->intern(std::move(leaf));
        // Also an output, so that simplification keeps it.
        part->add_output(fmt::format("input{}", i), made);
        input_of.emplace(classes.value_of(match.inputs[i]), made);
    }
    std::vector<bool> is_input(graph.nodes().size(), false);
    for (NodeId id = 0; id < is_input.size(); ++id) is_input[id] = input_of.contains(classes.value_of(id));
    for (const NodeId output : match.outputs)
        if (is_input[output]) return std::nullopt;
    const std::vector<bool> needed = nodes_between(graph, is_input, match.outputs);
    for (NodeId id = 0; id < needed.size(); ++id) {
        if (!needed[id]) continue;
        const ir::Node& node = graph.node(id);
        const bool is_leaf = ir::is_given(node) && node.op != ir::Op::constant;
        if (!is_input[id] && (is_leaf || ir::is(node, ir::OpClass::effect))) return std::nullopt;
        map[id] = is_input[id] ? input_of.at(classes.value_of(id)) : ir::copy_node(node, map, *part);
    }
    for (std::size_t o = 0; o < match.outputs.size(); ++o)
        part->add_output(fmt::format("output{}", o), map[match.outputs[o]]);
    MatchSubgraph result{simplify::simplify(*part).graph, match};
    const auto& ends = result.graph->outputs();
    for (std::size_t i = 0; i < match.inputs.size(); ++i) result.match.inputs[i] = ends[i].node;
    for (std::size_t o = 0; o < match.outputs.size(); ++o) result.match.outputs[o] = ends[match.inputs.size() + o].node;
    return result;
}

/// The match without moves and columns: it provides its whole result where it is computed.
Match unmoved(const Match& match) {
    Match plain = match;
    plain.outputs = match.computed();
    plain.moved.clear();
    if (!match.attributes.has("columns")) return plain;
    plain.outputs = {match.outputs[0]};
    plain.results = {match.results[0]};
    plain.attributes.clear();
    return plain;
}

/// The fault of a match that provides columns of its first output, if these are not the ones it computes; else empty.
std::string fault_in_columns(const ir::GraphData& graph, const alternatives::EClasses& classes, const Match& match) {
    if (!match.attributes.has("columns")) return {};
    const std::vector<Dim>& first = match.attributes.dims("columns");
    const Nodes computed = match.computed();
    const auto matches_claim = [&](std::size_t i) {
        const ir::Node& node = graph.node(computed[i]);
        if (match.results[i] != match.results[0]) return false;
        if (i == 0) return first[0] == Dim(0);
        return is_column_slice(node) && node.attributes.dims("start").at(0) == first[i] &&
               classes.value_of(node.operands[0]) == classes.value_of(computed[0]);
    };
    if (match.attributes.size() != 1 || first.size() != computed.size() || match.results.size() != computed.size())
        return "has columns that do not fit its outputs";
    for (std::size_t i = 0; i < computed.size(); ++i)
        if (!matches_claim(i)) return fmt::format("does not compute %{}", computed[i]);
    return {};
}

/// The fault in the moves from a computed value to an output, if any. Expressions of one value were proved when joined.
std::string fault_in_moves(const ir::GraphData& graph, const alternatives::EClasses& classes, NodeId output,
                           const Nodes& moved, const NormalForms& forms) {
    const std::optional<NodeId> wanted = moved_into(graph.node(output));
    if (!wanted) return fmt::format("provides %{}, which is not the result of a move", output);
    NodeId at = moved[0];
    const auto is_same = [&](NodeId other) {
        const ir::Node &a = graph.node(at), &b = graph.node(other);
        if (classes.value_of(at) == classes.value_of(other)) return true;
        return a.dtype == b.dtype && a.shape == b.shape && forms.normalizer().same(forms[at], forms[other]);
    };
    for (std::size_t i = 1; i < moved.size(); at = moved[i++]) {
        const ir::Node& move = graph.node(moved[i]);
        if (!is_permutation(move.op) || !is_same(move.operands[0]))
            return fmt::format("%{} is not %{} moved", moved[i], at);
    }
    return is_same(*wanted) ? std::string() : fmt::format("%{} holds another value", output);
}

}  // namespace

NormalForms& MatchVerifier::forms_under(Laws laws) {
    for (auto& [known, forms] : forms_)
        if (known == laws) return forms;
    return forms_.emplace_back(laws, NormalForms(graph_, laws)).second;
}

std::string MatchVerifier::fault(const Match& match, Laws laws) {
    if (std::string fault = fault_in_ids(graph_, match); !fault.empty()) return fault;
    if (!match.moved.empty()) {
        for (std::size_t i = 0; i < match.outputs.size(); ++i) {
            if (!match.is_moved(i)) continue;
            std::string fault = fault_in_moves(graph_, classes_, match.outputs[i], match.moved[i], forms_under(laws));
            if (!fault.empty()) return fault;
        }
        std::string fault = fault_in_columns(graph_, classes_, match);
        return fault.empty() ? this->fault(unmoved(match), laws) : fault;
    }
    if (is_state_change(graph_.node(match.outputs.front()))) return {};
    try {
        const Graph built = ir::problem_graph(problem_of(graph_, match), definitions_);
        NormalForms& forms = forms_under(laws);
        const std::string fault = fault_in_values(graph_, match, forms, unsimplified(built, match.inputs.size()));
        if (fault.empty()) return fault;
        const Rebuilt simple = simplified(built, match.inputs.size());
        if (fault_in_values(graph_, match, forms, simple).empty()) return {};
        // If the graph was not simplified, its normal form contains what simplification removes.
        const std::optional<MatchSubgraph> part = simplified_subgraph(graph_, classes_, match);
        if (!part) return fault;
        NormalForms part_forms(*part->graph, laws);
        return fault_in_values(*part->graph, part->match, part_forms, simple).empty() ? std::string() : fault;
    } catch (const InternalError&) { throw; } catch (const Error& error) {
        return fmt::format("cannot be rebuilt: {}", error.what());
    }
}

std::string MatchVerifier::fault(const Match& match) {
    std::string fault = this->fault(match, Laws::of_definitions());
    if (fault.empty() && provides_a_value_twice(classes_, match)) return "provides a value twice";
    return fault.empty() || this->fault(match, Laws::all()).empty() ? std::string() : fault;
}

Laws MatchVerifier::laws_of(const Match& match) {
    if (!match.moved.empty()) {
        Laws laws = laws_of(unmoved(match));
        for (std::size_t i = 0; i < match.outputs.size(); ++i) {
            if (!match.is_moved(i)) continue;
            for (const NodeId inside : match.moved[i]) laws = laws | classes_.laws_of(inside);
            if (match.attributes.has("columns"))
                laws = laws | classes_.laws_of(graph_.node(match.moved[i][0]).operands[0]);
            laws = laws | classes_.laws_of(match.outputs[i]);
        }
        return laws;
    }
    Match plain = match;
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
    // Proved as it is expressed here, together with the laws of these expressions: the whole may exceed the size up to
    // which forms apply laws.
    Laws of_expressions;
    for (const NodeId output : match.outputs) of_expressions = of_expressions | classes_.laws_of(output);
    for (const Laws laws : fewest_first)
        if (fault(match, laws).empty()) return laws | of_expressions;
    throw InternalError("fuse", "a match that no laws prove: " + to_string(std::vector<Match>{match}));
}

}  // namespace cairn::fusion
