#include "tests/graph/ir/reference_results.hpp"

#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <sstream>
#include <vector>

namespace cairn::test {
namespace {

int kind_of(double x) { return std::isnan(x) ? 3 : std::isinf(x) ? (x > 0 ? 2 : 1) : 0; }

// `others` are further results of the same element.
bool agrees(double actual, double exact, double rounded, std::span<const double> others, double bound) {
    if (kind_of(exact) != kind_of(rounded)) return true;
    for (const double other : others)
        if (kind_of(exact) != kind_of(other)) return true;
    if (kind_of(actual) != kind_of(exact)) return false;
    if (kind_of(exact) != 0) return true;
    const double allowed = bound * std::max(1.0, std::fabs(exact)) + 64 * std::fabs(exact - rounded);
    return std::fabs(actual - exact) <= allowed;
}

using Others = std::vector<const interpreter::Value*>;

std::string difference_of(const interpreter::Value& actual, const interpreter::Value& exact,
                          const interpreter::Value& rounded, const Others& others) {
    std::ostringstream text;
    text.precision(9);
    if (actual.dtype != exact.dtype || actual.shape != exact.shape || actual.size() != exact.size())
        return difference(actual, exact, 0);
    for (std::size_t i = 0; i < exact.size(); ++i) {
        if (!is_float(exact.dtype)) {
            bool agree = exact.integers[i] == rounded.integers[i];
            for (const interpreter::Value* other : others) agree = agree && exact.integers[i] == other->integers[i];
            if (!agree || actual.integers[i] == exact.integers[i]) continue;
            text << '[' << i << "]: " << actual.integers[i] << ", expected " << exact.integers[i];
            return text.str();
        }
        const double wanted = ir::round_to(exact.dtype, exact.data[i]);
        std::vector<double> further;
        for (const interpreter::Value* other : others) further.push_back(other->data[i]);
        if (agrees(actual.data[i], wanted, rounded.data[i], further, error_bound_of(exact.dtype))) continue;
        text << '[' << i << "]: " << actual.data[i] << ", expected " << wanted;
        return text.str();
    }
    return {};
}

// Whether a value has the elements of a product, perhaps scaled or at other positions.
std::vector<bool> holds_product(const ir::GraphData& graph) {
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

// x where it is finite, else `number`.
ir::NodeId finite_or(ir::GraphData& graph, ir::NodeId x, double number) {
    const DType dtype = graph.node(x).dtype;
    const Shape shape = graph.node(x).shape;
    const auto constant = [&](double value) {
        return ir::add_constant(graph, dtype, {}, std::span(&value, 1), std::source_location::current());
    };
    const ir::NodeId difference = added(graph, ir::Op::sub, dtype, shape, {x, x});
    const ir::NodeId is_finite = added(graph, ir::Op::eq, DType::boolean, shape, {difference, constant(0)});
    return added(graph, ir::Op::where, dtype, shape, {is_finite, x, constant(number)});
}

// The graph with `number` in place of NaN and infinities where a product is a factor of another one; nothing if none
// is.
std::optional<ir::GraphData> with_finite_factors(const ir::GraphData& graph, double number) {
    const std::vector<bool> products = holds_product(graph);
    ir::GraphData result(graph.name(), graph.symbols());
    std::vector<ir::NodeId> map;
    bool is_changed = false;
    for (const ir::Node& node : graph.nodes()) {
        ir::Node copy = node;
        const bool is_chain = node.op == ir::Op::matmul && is_float(node.dtype) &&
                              (products[node.operands[0]] || products[node.operands[1]]);
        is_changed = is_changed || is_chain;
        for (ir::NodeId& operand : copy.operands)
            operand = is_chain ? finite_or(result, map[operand], number) : map[operand];
        map.push_back(result.intern(copy));
    }
    if (!is_changed) return std::nullopt;
    for (const ir::Output& output : graph.outputs()) result.add_output(output.name, map[output.node]);
    return result;
}

bool has_special_values(const interpreter::Inputs& inputs) {
    return std::any_of(inputs.tensors.begin(), inputs.tensors.end(), [](const auto& named) {
        const interpreter::Value& value = named.second;
        return std::any_of(value.data.begin(), value.data.end(), [](double x) { return !std::isfinite(x); });
    });
}

}  // namespace

ir::GraphData rounded(const ir::GraphData& graph) {
    ir::GraphData result(graph.name(), graph.symbols());
    std::vector<ir::NodeId> map, exact;  // versions of a state are not rounded: the next version grows from them
    for (const ir::Node& node : graph.nodes()) {
        ir::Node copy = node;
        for (std::size_t i = 0; i < copy.operands.size(); ++i) {
            const bool version = i == 0 && ir::is(node, ir::OpClass::effect);
            copy.operands[i] = version ? exact[copy.operands[i]] : map[copy.operands[i]];
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
    ReferenceResults results{interpreter::interpret(graph, inputs), interpreter::interpret(rounded(graph), inputs), {}};
    results.rounded.states = results.exact.states;
    if (!has_special_values(inputs)) return results;
    for (const double number : {0.0, std::nan("")})
        if (const auto other = with_finite_factors(graph, number))
            results.finite_factors.push_back(interpreter::interpret(*other, inputs));
    return results;
}

std::string difference(const interpreter::Results& actual, const ReferenceResults& expected) {
    for (const auto& [name, value] : expected.exact.outputs) {
        const auto it = actual.outputs.find(name);
        if (it == actual.outputs.end()) return name + " is missing";
        Others others;
        for (const interpreter::Results& other : expected.finite_factors) others.push_back(&other.outputs.at(name));
        const std::string fault = difference_of(it->second, value, expected.rounded.outputs.at(name), others);
        if (!fault.empty()) return name + fault;
    }
    for (const auto& [name, value] : expected.exact.states) {
        const auto it = actual.states.find(name);
        if (it == actual.states.end()) return name + " is missing";
        const std::string fault = difference_of(it->second, value, expected.rounded.states.at(name), {});
        if (!fault.empty()) return name + fault;
    }
    return {};
}

}  // namespace cairn::test
