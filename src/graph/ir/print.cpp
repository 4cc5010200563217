#include "graph/ir/print.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/ir/valid_names.hpp"
#include "graph/types/identifier_chars.hpp"
#include "graph/types/text_cursor.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <ostream>

namespace cairn::ir {
namespace {

bool is_word(std::string_view name) {
    for (const char c : name)
        if (!types::is_letter(c) && !types::is_digit(c) && c != '.') return false;
    return !name.empty() && types::is_letter(name[0]);
}

std::string header(const GraphData& graph) {
    std::string text = "graph " + (is_word(graph.name()) ? graph.name() : quoted(graph.name()));
    std::string_view separator = " (";
    for (const Symbols::Symbol& symbol : graph.symbols()->list()) {
        text += fmt::format("{}{} in {}..{}", separator, symbol.name, symbol.low, symbol.high);
        separator = ", ";
    }
    return text + (separator == ", " ? ")\n" : "\n");
}

// The parser rounds to the dtype, so a float needs no more digits than its dtype.
std::string value_text(DType dtype, double value) {
    if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::bf16) return types::number_text(value);
    if (std::isnan(value)) return "nan";
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<float>(value)).ptr;
    return {buffer.data(), end};
}

std::string values_text(const Node& node) {
    const auto value = [&](std::size_t i) {
        return node.exact_integers ? fmt::format("{}", (*node.exact_integers)[i])
                                   : value_text(node.dtype, (*node.values)[i]);
    };
    if (node.shape.empty()) return value(0);
    std::string text = "{";
    for (std::size_t i = 0; i < node.values->size(); ++i) text += (i == 0 ? "" : ", ") + value(i);
    return text + "}";
}

std::string attribute_text(const Attribute& attribute) {
    if (const auto* number = std::get_if<double>(&attribute.value))
        return " " + attribute.name + "=" + types::number_text(*number);
    return " " + attribute.name + "=" + types::dims_text(std::get<std::vector<Dim>>(attribute.value), "(", ")");
}

}  // namespace

std::string print_node(const GraphData& graph, NodeId id) {
    const Node& node = graph.node(id);
    std::string text(info(node.op).name);
    if (!node.name.empty()) text += " " + quoted(node.name);
    if (node.values) text += (node.op == Op::constant ? " " : " initial=") + values_text(node);
    for (std::size_t i = 0; i < node.operands.size(); ++i)
        text += fmt::format("{} %{}", i == 0 ? "" : ",", node.operands[i]);
    for (const Attribute& attribute : node.attributes) text += attribute_text(attribute);
    return text + " : " + to_string(node.dtype, node.shape);
}

namespace {

std::string print(const GraphData& graph, bool is_named) {
    std::string text = header(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const std::string& label = graph.node(static_cast<NodeId>(i)).label;
        text += fmt::format("%{} = {}{}\n", i, print_node(graph, static_cast<NodeId>(i)),
                            is_named && !label.empty() ? " as " + quoted(label) : "");
    }
    for (const Output& output : graph.outputs())
        text += fmt::format("output {} %{}\n", quoted(output.name), output.node);
    for (const StateInfo& state : graph.states())
        text += fmt::format("state {} %{}\n", quoted(state.name), state.latest);
    return text;
}

}  // namespace

std::string print(const GraphData& graph) { return print(graph, false); }

std::string print_named(const GraphData& graph) { return print(graph, true); }

}  // namespace cairn::ir

namespace cairn::inline v0 {

std::string to_string(const Graph& graph) { return ir::print_named(*graph.data()); }

std::ostream& operator<<(std::ostream& out, const Graph& graph) { return out << to_string(graph); }

}  // namespace cairn::inline v0
