#include "tests/graph/ir/reference_results.hpp"

#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <algorithm>
#include <cmath>
#include <source_location>
#include <span>
#include <sstream>

namespace cairn::test {
namespace {

int kind_of(double x) { return std::isnan(x) ? 3 : std::isinf(x) ? (x > 0 ? 2 : 1) : 0; }

bool agrees(double actual, double exact, double rounded, double bound) {
    if (kind_of(exact) != kind_of(rounded)) return true;
    if (kind_of(actual) != kind_of(exact)) return false;
    if (kind_of(exact) != 0) return true;
    const double allowed = bound * std::max(1.0, std::fabs(exact)) + 64 * std::fabs(exact - rounded);
    return std::fabs(actual - exact) <= allowed;
}

std::string difference_of(const interpreter::Value& actual, const interpreter::Value& exact,
                          const interpreter::Value& rounded) {
    std::ostringstream text;
    text.precision(9);
    if (actual.dtype != exact.dtype || actual.shape != exact.shape || actual.size() != exact.size())
        return difference(actual, exact, 0);
    for (std::size_t i = 0; i < exact.size(); ++i) {
        if (!is_float(exact.dtype)) {
            if (actual.integers[i] == exact.integers[i] || exact.integers[i] != rounded.integers[i]) continue;
            text << '[' << i << "]: " << actual.integers[i] << ", expected " << exact.integers[i];
            return text.str();
        }
        const double wanted = ir::round_to(exact.dtype, exact.data[i]);
        if (agrees(actual.data[i], wanted, rounded.data[i], error_bound_of(exact.dtype))) continue;
        text << '[' << i << "]: " << actual.data[i] << ", expected " << wanted;
        return text.str();
    }
    return {};
}

// Values that hold the elements of a product, perhaps scaled or at other positions.
std::vector<bool> products_and_views(const ir::GraphData& graph) {
    std::vector<bool> result;
    for (const ir::Node& node : graph.nodes()) {
        const bool keeps = ir::is(node, ir::OpClass::movement) || node.op == ir::Op::pad || node.op == ir::Op::mul ||
                           node.op == ir::Op::div;
        result.push_back(node.op == ir::Op::matmul ||
                         (keeps && std::any_of(node.operands.begin(), node.operands.end(),
                                               [&](ir::NodeId operand) { return result[operand]; })));
    }
    return result;
}

ir::NodeId added(ir::GraphData& graph, ir::Op op, DType dtype, const Shape& shape,
                 std::initializer_list<ir::NodeId> operands) {
    ir::Node node;
    node.op = op;
    node.dtype = dtype;
    node.shape = shape;
    node.operands = operands;
    return graph.intern(node);
}

// x where it is finite, else 0.
ir::NodeId finite_or_zero(ir::GraphData& graph, ir::NodeId x) {
    const DType dtype = graph.node(x).dtype;
    const Shape shape = graph.node(x).shape;
    const double number = 0;
    const ir::NodeId zero = ir::add_constant(graph, dtype, {}, std::span(&number, 1), std::source_location::current());
    const ir::NodeId difference = added(graph, ir::Op::sub, dtype, shape, {x, x});
    const ir::NodeId is_finite = added(graph, ir::Op::eq, DType::boolean, shape, {difference, zero});
    return added(graph, ir::Op::where, dtype, shape, {is_finite, x, zero});
}

}  // namespace

ir::GraphData rounded(const ir::GraphData& graph) {
    ir::GraphData result(graph.name(), graph.symbols());
    const std::vector<bool> products = products_and_views(graph);
    std::vector<ir::NodeId> map, exact;  // versions of a state are not rounded: the next version grows from them
    for (const ir::Node& node : graph.nodes()) {
        ir::Node copy = node;
        for (std::size_t i = 0; i < copy.operands.size(); ++i) {
            const bool version = i == 0 && ir::is(node, ir::OpClass::effect);
            copy.operands[i] = version ? exact[copy.operands[i]] : map[copy.operands[i]];
            if (node.op == ir::Op::matmul && products[node.operands[i]] && is_float(node.dtype))
                copy.operands[i] = finite_or_zero(result, copy.operands[i]);
        }
        exact.push_back(result.intern(copy));
        map.push_back(exact.back());
        if (!is_float(node.dtype)) continue;
        ir::Node cast;
        cast.op = ir::Op::cast;
        cast.dtype = node.dtype;
        cast.shape = node.shape;
        cast.operands = {exact.back()};
        cast.attributes = {{"dtype", std::vector<Dim>{static_cast<int>(node.dtype)}}};
        map.back() = result.intern(cast);
    }
    for (const ir::Output& output : graph.outputs()) result.add_output(output.name, map[output.node]);
    return result;
}

ReferenceResults reference_results(const ir::GraphData& graph, const interpreter::Inputs& inputs) {
    ReferenceResults results{interpreter::interpret(graph, inputs), interpreter::interpret(rounded(graph), inputs)};
    results.rounded.states = results.exact.states;
    return results;
}

std::string difference(const interpreter::Results& actual, const ReferenceResults& expected) {
    const auto compared = [](const auto& got, const auto& exact, const auto& rounded) -> std::string {
        for (const auto& [name, value] : exact) {
            const auto it = got.find(name);
            if (it == got.end()) return name + " is missing";
            const std::string fault = difference_of(it->second, value, rounded.at(name));
            if (!fault.empty()) return name + fault;
        }
        return {};
    };
    const std::string fault = compared(actual.outputs, expected.exact.outputs, expected.rounded.outputs);
    return fault.empty() ? compared(actual.states, expected.exact.states, expected.rounded.states) : fault;
}

}  // namespace cairn::test
