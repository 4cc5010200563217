#include "graph/ir/verify.hpp"

#include "graph/ir/infer.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/print.hpp"
#include "graph/ir/valid_names.hpp"
#include "graph/ir/verify_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cairn::ir {
namespace {

using NameSet = std::set<std::string, std::less<>>;

std::string check_leaf(const Node& node, NameSet& names) {
    const OpInfo& row = info(node.op);
    if (!node.operands.empty()) return "a leaf has operands";
    if (node.op != Op::constant) {
        if (const std::string fault = verify_name(node.name); !fault.empty()) return "its name " + fault;
        if (!names.insert(node.name).second) return "its name is taken";
    }
    const bool fixed = node.op == Op::state_read && node.attributes.empty();
    const bool attributes_fit =
        fixed || std::equal(node.attributes.begin(), node.attributes.end(), row.attributes.begin(),
                            row.attributes.end(), [](const auto& a, auto name) { return a.name == name; });
    if (!attributes_fit) return "its attributes are not those of its op";
    const bool may_have_values = node.op == Op::constant || fixed, must = node.op == Op::constant;
    if (node.values ? !may_have_values : must) return "values belong to constants and states of fixed size";
    if (!node.values) return {};
    if (node.exact_integers && (node.dtype != DType::i64 || node.exact_integers->size() != node.values->size()))
        return "wide values belong to i64, as many as there are values";
    const Dim count = element_count(node.shape);
    return count == Dim(node.values->size()) ? std::string() : "it has another number of values than its shape";
}

/// True if an append exceeds the state's capacity at all sizes. infer() rejects that, but the graph of a bucket may
/// have such sizes: no run uses them.
bool is_always_full(const GraphData& graph, const Node& node) {
    if (node.op != Op::state_append || node.operands.size() != 2) return false;
    const std::optional<NodeId> origin = state_origin(graph, node.operands[0]);
    if (!origin || graph.node(*origin).attributes.empty()) return false;
    const Attributes& attributes = graph.node(*origin).attributes;
    const std::int64_t axis = static_cast<std::int64_t>(node.shape.size()) + attributes.integer("axis");
    return axis >= 0 && axis < static_cast<std::int64_t>(node.shape.size()) &&
           provably_le(Dim(attributes.integer("capacity") + 1), node.shape[static_cast<std::size_t>(axis)]);
}

std::string check_op(const GraphData& graph, NodeId id) {
    const Node& node = graph.node(id);
    if (!node.name.empty() || node.values) return "an op has a name or values";
    for (const NodeId operand : node.operands)
        if (operand >= id) return fmt::format("its operand %{} does not come before it", operand);
    if (is_always_full(graph, node)) return {};
    Attributes attributes = node.attributes;
    const Inferred inferred = infer(graph, node.op, node.operands, attributes, {});
    if (inferred.dtype != node.dtype || inferred.shape != node.shape)
        return "its type should be " + to_string(inferred.dtype, inferred.shape);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const bool list = std::holds_alternative<std::vector<Dim>>(attributes[i].value);
        if (attributes[i].name != node.attributes[i].name || (list && attributes[i] != node.attributes[i]))
            return "its attribute " + attributes[i].name + " is not in stored form";
    }
    return {};
}

std::string check_node(const GraphData& graph, NodeId id, NameSet& names) {
    const Node& node = graph.node(id);
    try {
        return is(node, OpClass::leaf) && node.op != Op::iota ? check_leaf(node, names) : check_op(graph, id);
    } catch (const Error& error) { return error.what(); }
}

std::string check_state(const GraphData& graph, const StateInfo& state) {
    if (state.read >= graph.nodes().size() || state.latest >= graph.nodes().size()) return "it names no node";
    const Node& read = graph.node(state.read);
    if (read.op != Op::state_read || read.name != state.name) return "its leaf is another one's";
    if (state_origin(graph, state.latest) != state.read) return "its latest version grew from another leaf";
    if (read.dtype != state.dtype || read.shape != state.shape) return "its type differs from its leaf's";
    const bool same = state.grows() != read.attributes.empty() &&
                      (!state.grows() || (read.attributes.integer("axis") == state.axis &&
                                          read.attributes.integer("capacity") == state.capacity));
    return same ? std::string() : "its axis or capacity differ from its leaf's";
}

std::string check_states(const GraphData& graph) {
    std::set<NodeId> leaves;
    for (const StateInfo& state : graph.states()) {
        if (const std::string fault = check_state(graph, state); !fault.empty())
            return fmt::format("state {}: {}", quoted(state.name), fault);
        if (!leaves.insert(state.read).second) return fmt::format("state {}: listed twice", quoted(state.name));
    }
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        if (graph.node(id).op == Op::state_read && !leaves.contains(id))
            return fmt::format("%{} = {}: belongs to no state", id, print_node(graph, id));
    return verify_state_versions(graph);
}

}  // namespace

std::string verify(const GraphData& graph) {
    NameSet names, outputs;
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        if (const std::string fault = check_node(graph, id, names); !fault.empty())
            return fmt::format("%{} = {}: {}", id, print_node(graph, id), fault);
    for (const Output& output : graph.outputs()) {
        if (output.node >= graph.nodes().size()) return fmt::format("output {}: names no node", quoted(output.name));
        if (!outputs.insert(output.name).second) return fmt::format("output {}: named twice", quoted(output.name));
    }
    return check_states(graph);
}

}  // namespace cairn::ir
