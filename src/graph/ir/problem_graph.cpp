#include "graph/ir/problem_graph.hpp"

#include "cairn/ops.hpp"
#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::ir {
namespace {

[[noreturn]] void refuse_problem(const Problem& problem, const std::string& text) {
    throw Error(ErrorKind::argument, "problem", fmt::format("{}: {}", text, to_string(problem)));
}

const Tensor& value_at(const Problem& problem, const std::vector<Tensor>& values, int number) {
    if (number < 0 || static_cast<std::size_t>(number) >= values.size())
        refuse_problem(problem, fmt::format("the body has no value {}", number));
    return values[static_cast<std::size_t>(number)];
}

// A product whose weight is stored in a narrower dtype than x: the weight is cast.
Tensor build_product(std::vector<Tensor> operands, const Attributes& attributes) {
    if (operands.size() == 2 && is_widening(operands[1].dtype(), operands[0].dtype()))
        operands[1] = cast(operands[1], operands[0].dtype());
    return apply(info(Op::matmul).name, operands, attributes);
}

const Definition& definition_of(const Problem& problem, const Step& step, FusionRole part,
                                std::span<const Definition> definitions) {
    const auto is_part = [&](const Definition& definition) {
        return definition.name == step.op && definition.fusion_role == part;
    };
    const auto definition = std::find_if(definitions.begin(), definitions.end(), is_part);
    if (definition == definitions.end()) refuse_problem(problem, fmt::format("'{}' is no elementwise op", step.op));
    return *definition;
}

// The anchor of a `fused` body.
Tensor build_anchor(const Problem& problem, const Step& step, const std::vector<Tensor>& operands,
                    std::span<const Definition> definitions) {
    if (find_op(step.op) == Op::matmul) return build_product(operands, {});
    const std::vector<Tensor> made =
        definition_of(problem, step, FusionRole::anchor, definitions).build(operands, problem.attributes);
    if (made.size() != 1) refuse_problem(problem, fmt::format("'{}' has several results", step.op));
    return made[0];
}

// An elementwise op, or a definition with the fusion role `step`.
Tensor build_step(const Problem& problem, const Step& step, const std::vector<Tensor>& operands,
                  std::span<const Definition> definitions) {
    Attributes attributes;
    if (step.op == "cast") attributes = {{"dtype", std::vector<Dim>{static_cast<int>(step.dtype)}}};
    const auto op = find_op(step.op);
    if (op && info(*op).kind == OpClass::elementwise) return apply(step.op, operands, attributes);
    const std::vector<Tensor> made =
        definition_of(problem, step, FusionRole::step, definitions).build(operands, attributes);
    if (operands.size() != 1 || made.size() != 1 || made[0].shape() != operands[0].shape())
        refuse_problem(problem, fmt::format("'{}' is no step: it takes and makes more than an element", step.op));
    return made[0];
}

/// The part of a value that output `output` holds: all, or some columns, which may be several axes.
Tensor slice_for_output(const Problem& problem, std::size_t output, const Tensor& whole) {
    if (!problem.attributes.has("columns")) return whole;
    const std::vector<Dim>& columns = problem.attributes.dims("columns");
    if (output >= columns.size() || output >= problem.outputs.size() || whole.rank() == 0)
        refuse_problem(problem, "columns must have the first column of each output");
    const Shape &shape = problem.outputs[output].shape, &all = whole.shape();
    const auto leading = static_cast<std::ptrdiff_t>(all.size()) - 1;
    if (shape.size() < all.size() || !std::equal(all.begin(), all.begin() + leading, shape.begin()))
        refuse_problem(problem, fmt::format("output {} has other leading axes than the product", output));
    Dim count = 1;
    for (auto size = shape.begin() + leading; size != shape.end(); ++size) count = count * *size;
    return reshape(slice(whole, -1, columns[output], columns[output] + count), shape);
}

std::vector<Tensor> build_body(const Problem& problem, const Graph& graph, std::vector<Tensor> values,
                               std::span<const Definition> definitions) {
    for (const Step& step : problem.body) {
        if (step.op == "const") {
            values.push_back(Graph(graph).constant(step.dtype, step.number));
            continue;
        }
        std::vector<Tensor> operands;
        for (const int number : step.operands) operands.push_back(value_at(problem, values, number));
        const bool is_anchor = problem.definition == "fused" && &step == &problem.body.front();
        values.push_back((is_anchor ? build_anchor : build_step)(problem, step, operands, definitions));
        if (values.back().dtype() != step.dtype)
            refuse_problem(problem, fmt::format("value {} is {}", values.size() - 1, to_string(values.back().dtype())));
    }
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < problem.results.size(); ++i)
        results.push_back(slice_for_output(problem, i, value_at(problem, values, problem.results[i])));
    return results;
}

/// x with the block that begins at `start` replaced by `block`, from `axis` on.
Tensor with_block(const Tensor& x, const Tensor& block, const std::vector<Dim>& start, int axis) {
    if (axis == x.rank()) return block;
    const Dim begin = start[static_cast<std::size_t>(axis)], end = begin + block.dim(axis), size = x.dim(axis);
    if (begin == Dim(0) && end == size) return with_block(x, block, start, axis + 1);
    const Tensor inside = with_block(slice(x, axis, begin, end), block, start, axis + 1);
    return concat({slice(x, axis, 0, begin), inside, slice(x, axis, end, size)}, axis);
}

// Outside a graph with states, a version is a plain tensor: rows are appended to it, or replace a part of it. The
// growing axis is the one on which the sizes before and after differ.
Tensor change_state(const Problem& problem, const std::vector<Tensor>& in) {
    const bool append = problem.definition == info(Op::state_append).name;
    if (in.size() != 2 || in[0].rank() != in[1].rank() || (append && problem.outputs.size() != 1))
        refuse_problem(problem, "a state change takes the state and rows of one rank, and declares its result");
    if (!append) {
        const std::vector<Dim>& start = problem.attributes.dims("start");
        if (start.size() != in[0].shape().size()) refuse_problem(problem, "start takes one size an axis");
        return with_block(in[0], in[1], start, 0);
    }
    const Shape &live = in[0].shape(), &grown = problem.outputs[0].shape;
    if (grown.size() != live.size()) refuse_problem(problem, "the ranks of a state and its next version differ");
    const auto differs = std::mismatch(live.begin(), live.end(), grown.begin()).first;
    return differs == live.end() ? in[0] : concat({in[0], in[1]}, static_cast<int>(differs - live.begin()));
}

std::vector<Tensor> build_problem(const Problem& problem, const Graph& graph, const std::vector<Tensor>& in,
                                  std::span<const Definition> definitions) {
    if (problem.definition == "fused" && !parts_of_fused(problem))
        refuse_problem(problem,
                       "a fused body begins with its only product, of inputs 0 and 1, which it reads once, and has no "
                       "attributes but those of the product, or the first column of each output of a matmul");
    if (problem.definition == "elementwise" || problem.definition == "fused")
        return build_body(problem, graph, in, definitions);
    if (problem.definition == "pack") {
        if (in.size() != 1) refuse_problem(problem, "pack takes one input");
        return in;
    }
    const auto op = find_op(problem.definition);
    if (op == Op::iota) return {Tensor(graph.data(), graph.data()->make(Op::iota, {}, problem.attributes, {}))};
    if (op && info(*op).kind == OpClass::effect) return {change_state(problem, in)};
    if (op == Op::matmul) return {build_product(in, problem.attributes)};
    if (op && info(*op).kind != OpClass::leaf) return {apply(problem.definition, in, problem.attributes)};
    const auto named = [&](const Definition& definition) { return definition.name == problem.definition; };
    const auto it = std::find_if(definitions.begin(), definitions.end(), named);
    if (it == definitions.end())
        refuse_problem(problem, fmt::format("there is no definition '{}'", problem.definition));
    return it->build(in, problem.attributes);
}

}  // namespace

Graph problem_graph(const Problem& problem, std::span<const Definition> definitions) {
    std::shared_ptr<Symbols> symbols = symbols_of(problem);
    if (!symbols) symbols = Symbols::create();
    const Graph graph(
        std::make_shared<GraphData>(problem.definition.empty() ? "problem" : problem.definition, symbols));
    std::vector<Tensor> in;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        // Interned without checks: the sizes are those of values of some graph, proved there.
        Node input;
        input.dtype = problem.inputs[i].dtype;
        input.shape = problem.inputs[i].shape;
        input.name = fmt::format("in{}", i);
        in.emplace_back(graph.data(), graph.data()->intern(std::move(input)));
    }
    const std::vector<Tensor> out = build_problem(problem, graph, in, definitions);
    for (std::size_t i = 0; i < out.size(); ++i) graph.data()->add_output(fmt::format("out{}", i), out[i].id());
    return graph;
}

Tensor apply(std::string_view name, std::span<const Tensor> operands, const Attributes& attributes,
             std::source_location where) {
    const auto op = find_op(name);
    if (!op || operands.empty())
        throw Error(ErrorKind::argument, "apply", fmt::format("'{}' is no op on tensors", name), where);
    std::vector<NodeId> ids;
    for (const Tensor& operand : operands) {
        if (operand.empty() || operand.graph() != operands.front().graph())
            throw Error(ErrorKind::graph, name, "operands must be tensors of one graph", where);
        ids.push_back(operand.id());
    }
    const auto& graph = operands.front().graph();
    return Tensor(graph, graph->make(*op, std::move(ids), attributes, where));
}

}  // namespace cairn::ir
