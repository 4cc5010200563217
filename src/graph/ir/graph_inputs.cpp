#include "graph/ir/graph_inputs.hpp"

#include "graph/ir/graph_error.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/ir/valid_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::ir {
namespace {

void check_shape(const GraphData& graph, std::string_view part, DType dtype, const Shape& shape,
                 const std::source_location& where) {
    for (const Dim& size : shape) {
        if (!size.is_constant() && size.symbols() != graph.symbols())
            refuse(part, fmt::format("size {} is made of another graph's symbols", to_string(size)), where);
        if (!provably_le(0, size))
            refuse(part, fmt::format("size {} of {} may be negative", to_string(size), to_string(dtype, shape)), where);
    }
    try {
        element_count(shape);
    } catch (const Error&) {
        refuse(part, fmt::format("{} has more elements than 64 bits count", to_string(dtype, shape)), where);
    }
}

void check_new_leaf(const GraphData& graph, std::string_view part, std::string_view name,
                    const std::source_location& where) {
    if (const std::string fault = verify_name(name); !fault.empty()) refuse(part, "the name " + fault, where);
    if (const auto known = graph.find_leaf(name)) {
        const Node& node = graph.node(*known);
        refuse(part,
               fmt::format("the name {} is taken by {} {}", quoted(name),
                           node.op == Op::state_read ? "state" : info(node.op).name, to_string(node.dtype, node.shape)),
               where);
    }
}

Node leaf(const GraphData& graph, Op op, DType dtype, Shape shape, const std::source_location& where) {
    Node node;
    node.op = op;
    node.dtype = dtype;
    node.shape = std::move(shape);
    node.where = graph.place(where);
    node.composite = graph.part_name("");
    return node;
}

NodeId named_leaf(GraphData& graph, Op op, std::string_view name, DType dtype, Shape shape,
                  const std::source_location& where) {
    const auto part = info(op).name;
    check_new_leaf(graph, part, name, where);
    check_shape(graph, part, dtype, shape, where);
    Node node = leaf(graph, op, dtype, std::move(shape), where);
    node.name = name;
    return graph.intern(std::move(node));
}

/// Adds a state's read node and its row in states(); returns the row's index.
std::size_t new_state(GraphData& graph, Node node, int axis, std::int64_t capacity) {
    StateInfo state{node.name, node.dtype, node.shape, axis, capacity};
    state.read = state.latest = graph.intern(std::move(node));
    graph.states().push_back(std::move(state));
    return graph.states().size() - 1;
}

/// The read node of a state of fixed size.
Node fixed_state(const GraphData& graph, std::string_view name, DType dtype, Shape shape,
                 const std::source_location& where) {
    check_new_leaf(graph, "state", name, where);
    check_shape(graph, "state", dtype, shape, where);
    for (const Dim& size : shape)
        if (!size.is_constant())
            refuse("state",
                   fmt::format("the shape of {} must be constant where no axis grows, got {}", quoted(name),
                               to_string(dtype, shape)),
                   where);
    Node node = leaf(graph, Op::state_read, dtype, std::move(shape), where);
    node.name = name;
    return node;
}

void check_count(std::string_view part, const std::string& type, const Dim& count, std::size_t given,
                 const std::source_location& where) {
    if (!(count == Dim(given)))
        refuse(part, fmt::format("{} needs {} values, got {}", type, to_string(count), given), where);
}

void check_table(const GraphData& graph, DType dtype, const Shape& shape, std::size_t given,
                 const std::source_location& where) {
    check_shape(graph, "constant", dtype, shape, where);
    const std::string type = to_string(dtype, shape);
    for (const Dim& size : shape)
        if (!size.is_constant()) refuse("constant", fmt::format("the shape must be constant, got {}", type), where);
    check_count("constant", type, element_count(shape), given, where);
}

void set_values(Node& node, std::span<const double> values) {
    // The largest i64 is not representable as a double.
    if (node.dtype == DType::i64 && std::any_of(values.begin(), values.end(), [](double v) { return v >= 0x1p63; })) {
        std::vector<std::int64_t> integers;
        for (const double value : values) integers.push_back(truncate_to(node.dtype, value));
        return set_values(node, integers);
    }
    std::vector<double> rounded;
    rounded.reserve(values.size());
    for (const double value : values) rounded.push_back(round_to(node.dtype, value));
    node.values = std::make_shared<const std::vector<double>>(std::move(rounded));
}

template <typename T>
NodeId new_constant(GraphData& graph, DType dtype, Shape shape, std::span<const T> values,
                    const std::source_location& where) {
    check_table(graph, dtype, shape, values.size(), where);
    Node node = leaf(graph, Op::constant, dtype, std::move(shape), where);
    set_values(node, values);
    return graph.intern(std::move(node));
}

template <typename T>
std::size_t new_state_from(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                           std::span<const T> initial, const std::source_location& where) {
    Node node = fixed_state(graph, name, dtype, std::move(shape), where);
    check_count("state", quoted(name) + " " + to_string(dtype, node.shape), element_count(node.shape), initial.size(),
                where);
    set_values(node, initial);
    return new_state(graph, std::move(node), 0, 0);
}

}  // namespace

void set_values(Node& node, std::span<const std::int64_t> values) {
    std::vector<double> nearest;
    nearest.reserve(values.size());
    for (const std::int64_t value : values)
        nearest.push_back(is_float(node.dtype) ? round_integer(node.dtype, value)
                                               : static_cast<double>(saturate_to(node.dtype, value)));
    node.values = std::make_shared<const std::vector<double>>(std::move(nearest));
    if (node.dtype == DType::i64 && !std::all_of(values.begin(), values.end(), is_exact_double))
        node.exact_integers = std::make_shared<const std::vector<std::int64_t>>(values.begin(), values.end());
}

NodeId add_input(GraphData& graph, std::string_view name, DType dtype, Shape shape, const std::source_location& where) {
    return named_leaf(graph, Op::input, name, dtype, std::move(shape), where);
}

NodeId add_weight(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                  const std::source_location& where) {
    for (const Dim& size : shape)
        if (!size.is_constant())
            refuse("weight",
                   fmt::format("the shape of {} must be constant, got {}", quoted(name), to_string(dtype, shape)),
                   where);
    return named_leaf(graph, Op::weight, name, dtype, std::move(shape), where);
}

std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape, std::int64_t axis,
                      std::int64_t capacity, const std::source_location& where) {
    const auto fail = [&](const std::string& text) { refuse("state", quoted(name) + " " + text, where); };
    check_new_leaf(graph, "state", name, where);
    check_shape(graph, "state", dtype, shape, where);
    const auto rank = static_cast<std::int64_t>(shape.size());
    const std::string type = to_string(dtype, shape);
    if (axis < -rank || axis >= rank) fail(fmt::format("has no axis {}: {}", axis, type));
    const auto negative = static_cast<int>(axis < 0 ? axis : axis - rank);
    const Dim length = shape[static_cast<std::size_t>(rank + negative)];
    if (length.symbol().empty() && !length.is_constant())
        fail(fmt::format("must have a symbol as the size of axis {}: {}", axis, type));
    if (const auto least = std::max<std::int64_t>(1, length.lower_bound()); capacity < least)
        fail(fmt::format("has capacity {}, below its least length {}: {}", capacity, least, type));

    Node node = leaf(graph, Op::state_read, dtype, std::move(shape), where);
    node.name = name;
    node.attributes = {{"axis", std::vector<Dim>{negative}}, {"capacity", std::vector<Dim>{capacity}}};
    return new_state(graph, std::move(node), negative, capacity);
}

std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      const std::source_location& where) {
    return new_state(graph, fixed_state(graph, name, dtype, std::move(shape), where), 0, 0);
}

std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      std::span<const double> initial, const std::source_location& where) {
    return new_state_from(graph, name, dtype, std::move(shape), initial, where);
}

std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      std::span<const std::int64_t> initial, const std::source_location& where) {
    return new_state_from(graph, name, dtype, std::move(shape), initial, where);
}

NodeId add_constant(GraphData& graph, DType dtype, Shape shape, std::span<const double> values,
                    const std::source_location& where) {
    return new_constant(graph, dtype, std::move(shape), values, where);
}

NodeId add_constant(GraphData& graph, DType dtype, Shape shape, std::span<const std::int64_t> values,
                    const std::source_location& where) {
    return new_constant(graph, dtype, std::move(shape), values, where);
}

NodeId add_size(GraphData& graph, DType dtype, const Dim& value, const std::source_location& where) {
    if (value.is_constant()) {
        const std::int64_t number = value.constant();
        return add_constant(graph, dtype, {}, std::span(&number, 1), where);
    }
    const auto list = [](const Dim& dim) { return std::vector<Dim>{dim}; };
    const auto number_of = [&](DType type) { return list(static_cast<int>(type)); };
    const NodeId table = graph.make(
        Op::iota, {}, {{"length", list(1)}, {"start", list(value)}, {"dtype", number_of(DType::i64)}}, where);
    const NodeId scalar = graph.make(Op::reshape, {table}, {{"shape", Shape{}}}, where);
    return dtype == DType::i64 ? scalar : graph.make(Op::cast, {scalar}, {{"dtype", number_of(dtype)}}, where);
}

}  // namespace cairn::ir
