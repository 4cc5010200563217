#include "graph/interpreter/interpreter.hpp"

#include "graph/interpreter/evaluation.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/ir/valid_names.hpp"

#include <fmt/format.h>

namespace cairn::interpreter {
namespace {

std::string type_text(DType dtype, const Sizes& shape) { return to_string(dtype, Shape(shape.begin(), shape.end())); }

[[noreturn]] void refuse_input(const std::string& text) { throw Error(ErrorKind::argument, "interpret", text); }

class Interpreter {
public:
    Interpreter(const GraphData& graph, const Inputs& inputs, const Rounding& rounding = nullptr)
        : graph_(graph), inputs_(inputs), rounding_(rounding) {
        for (const Symbols::Symbol& symbol : graph.symbols()->list()) {
            const auto it = inputs.sizes.find(symbol.name);
            if (it == inputs.sizes.end()) refuse_input(fmt::format("no value for the symbol {}", symbol.name));
            if (it->second < symbol.low || it->second > symbol.high)
                refuse_input(
                    fmt::format("{} = {} is outside {}..{}", symbol.name, it->second, symbol.low, symbol.high));
            symbol_values_.push_back(it->second);
        }
    }

    /// Values of the nodes in `wanted`. With `keep` all stay; else values are dropped after their last use.
    std::vector<Value> run(const std::vector<bool>& wanted, bool keep) {
        std::vector<Value> values(graph_.nodes().size());
        std::vector<int> uses = use_counts(graph_);
        for (NodeId id = 0; id < values.size(); ++id) {
            if (!wanted[id]) continue;
            values[id] = evaluate(id, values);
            round(graph_.node(id), values[id]);
            for (const NodeId operand : graph_.node(id).operands)
                if (--uses[operand] == 0 && !keep) values[operand] = {};
        }
        return values;
    }

private:
    Value evaluate(NodeId id, const std::vector<Value>& values) const {
        const Node& node = graph_.node(id);
        Evaluation e{graph_, id, symbol_values_, {}, {}};
        for (const NodeId operand : node.operands) e.operands.push_back(&values[operand]);
        for (const Dim& size : node.shape) e.shape.push_back(size.evaluate(symbol_values_));
        for (const std::int64_t size : e.shape)
            if (size < 0) e.fail("a size is negative: " + type_text(node.dtype, e.shape));
        switch (info(node.op).kind) {
            case OpClass::leaf: return evaluate_leaf(e);
            case OpClass::elementwise: return evaluate_elementwise(e);
            case OpClass::reduction: return evaluate_reduction(e);
            case OpClass::contraction: return evaluate_matmul(e);
            case OpClass::movement: return evaluate_movement(e);
            case OpClass::indexing: return evaluate_indexing(e);
            case OpClass::scan: return evaluate_scan(e);
            case OpClass::effect: return evaluate_state_change(e);
            case OpClass::transfer: break;
        }
        return e.operand(0);
    }

    void round(const Node& node, Value& value) const {
        if (!rounding_ || is(node, OpClass::leaf)) return;
        for (double& number : value.data) number = rounding_(value.dtype, number);
    }

    Value evaluate_leaf(const Evaluation& e) const {
        const Node& node = e.node();
        if (node.op == Op::iota) return evaluate_iota(e);
        if (node.op == Op::constant) {
            Value out = e.result();
            for (std::size_t i = 0; i < out.size(); ++i) {
                const double value = (*node.values)[node.values->size() == 1 ? 0 : i];
                if (node.exact_integers)
                    out.integers[i] = (*node.exact_integers)[node.exact_integers->size() == 1 ? 0 : i];
                else if (is_float(node.dtype))
                    out.data[i] = value;
                else
                    out.integers[i] = truncate_to(node.dtype, value);
            }
            return out;
        }
        const auto it = inputs_.tensors.find(node.name);
        if (it == inputs_.tensors.end())
            refuse_input(fmt::format("no value for {} {}", info(node.op).name, quoted(node.name)));
        const Value& value = it->second;
        if (value.dtype != node.dtype || value.shape != e.shape)
            refuse_input(fmt::format("{} must be {}, got {}", quoted(node.name), type_text(node.dtype, e.shape),
                                     type_text(value.dtype, value.shape)));
        if (static_cast<std::int64_t>(value.size()) != count(e.shape))
            refuse_input(
                fmt::format("{} {} has {} elements", quoted(node.name), type_text(node.dtype, e.shape), value.size()));
        return value;
    }

    const GraphData& graph_;
    const Inputs& inputs_;
    const Rounding rounding_;
    std::vector<std::int64_t> symbol_values_;
};

}  // namespace

Results interpret(const GraphData& graph, const Inputs& inputs, const Rounding& rounding) {
    const std::vector<Value> values = Interpreter(graph, inputs, rounding).run(live_nodes(graph), false);
    Results results;
    for (const Output& output : graph.outputs()) results.outputs.emplace(output.name, values[output.node]);
    for (const StateInfo& state : graph.states()) results.states.emplace(state.name, values[state.latest]);
    return results;
}

std::vector<Value> interpret_nodes(const GraphData& graph, const Inputs& inputs) {
    return Interpreter(graph, inputs).run(std::vector<bool>(graph.nodes().size(), true), true);
}

Value make_value(DType dtype, std::vector<std::int64_t> shape, std::span<const double> elements) {
    Value value;
    value.dtype = dtype;
    value.shape = std::move(shape);
    if (count(value.shape) != static_cast<std::int64_t>(elements.size()))
        refuse_input(fmt::format("{} cannot have {} elements", type_text(dtype, value.shape), elements.size()));
    for (const double element : elements) {
        if (is_float(dtype))
            value.data.push_back(round_to(dtype, element));
        else
            value.integers.push_back(truncate_to(dtype, element));
    }
    return value;
}

}  // namespace cairn::interpreter
