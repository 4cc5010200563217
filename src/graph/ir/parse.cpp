#include "cairn/graph.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/json_string.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/ir/valid_names.hpp"
#include "graph/ir/verify_states.hpp"
#include "graph/types/text_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::inline v0 {
namespace {

using ir::GraphData;
using ir::NodeId;
using ir::Op;
using types::TextCursor;
using types::UnknownSymbol;

/// Parses a graph line by line; print.hpp documents the form.
class GraphParser {
public:
    std::shared_ptr<GraphData> read(std::string_view text);

private:
    void read_line(TextCursor& cursor);
    void read_header(TextCursor& cursor);
    void read_node(TextCursor& cursor);
    void read_output(TextCursor& cursor);
    void read_commit(TextCursor& cursor);
    void finish(std::size_t line) const;

    NodeId read_leaf(TextCursor& cursor, Op op);
    NodeId read_constant(TextCursor& cursor);
    NodeId read_state_with_values(TextCursor& cursor, const std::string& name, std::size_t position);
    NodeId read_op(TextCursor& cursor, Op op);
    /// The values and type of a constant, or of a state's initial contents.
    struct ConstantData {
        std::vector<double> values;
        std::vector<std::int64_t> exact;  ///< instead of values, if a double would lose digits
        bool is_exact = false;
        DType dtype{};
        Shape shape;
    };
    ConstantData read_table(TextCursor& cursor);
    template <typename T, typename Read>
    static std::vector<T> read_values(TextCursor& cursor, Read read);
    static std::int64_t read_integer(TextCursor& cursor);
    static void expect_representable(TextCursor& cursor, DType dtype, double value, std::size_t position);
    void read_attributes(TextCursor& cursor, Attributes& attributes);
    NodeId read_reference(TextCursor& cursor);
    std::string read_name(TextCursor& cursor, bool bare = false);
    void read_type(TextCursor& cursor, DType& dtype, Shape& shape);
    void read_label(TextCursor& cursor);
    static void expect_end(TextCursor& cursor);

    std::shared_ptr<GraphData> graph_;
    std::unordered_map<std::int64_t, NodeId> numbers_;
    std::vector<std::string> committed_;
    std::string label_;  // of the line read last
};

// Errors of graph building have no column: prepend that of the line's op.
template <typename F>
auto with_location(TextCursor& cursor, std::size_t position, F build) {
    try {
        return build();
    } catch (const Error& error) { cursor.fail(error.what(), position); }
}

std::shared_ptr<GraphData> GraphParser::read(std::string_view text) {
    std::size_t line = 1;
    for (; !text.empty(); ++line) {
        const std::size_t end = text.find('\n');
        std::string_view content = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (content.ends_with('\r')) content.remove_suffix(1);
        TextCursor cursor(content, "parse_graph");
        if (cursor.at_end() || cursor.peek() == '#') continue;
        try {
            read_line(cursor);
        } catch (const Error& error) {
            // Errors of arithmetic on sizes have no column.
            constexpr std::string_view known = "[parse_graph] ";
            const std::string_view message = error.what();
            throw Error(ErrorKind::argument, "parse_graph",
                        message.starts_with(known)
                            ? fmt::format("line {}, {}", line, message.substr(known.size()))
                            : fmt::format("line {}, column {}: {}", line, cursor.position() + 1, message));
        }
    }
    if (!graph_)
        throw Error(ErrorKind::argument, "parse_graph", "line 1, column 1: expected 'graph', got the end of the text");
    finish(line);
    return graph_;
}

void GraphParser::read_line(TextCursor& cursor) {
    if (!graph_) return read_header(cursor);
    if (cursor.peek() == '%') return read_node(cursor);
    if (cursor.accept_keyword("output")) return read_output(cursor);
    if (cursor.accept_keyword("state")) return read_commit(cursor);
    cursor.fail_expected("'%', 'output' or 'state'");
}

void GraphParser::read_header(TextCursor& cursor) {
    if (!cursor.accept_keyword("graph")) cursor.fail_expected("'graph'");
    graph_ = std::make_shared<GraphData>(read_name(cursor, true));
    if (!cursor.accept("(")) return expect_end(cursor);
    do {
        cursor.peek();
        const std::size_t position = cursor.position();
        const auto name = cursor.name();
        if (name.empty()) cursor.fail_expected("a symbol's name");
        if (graph_->symbols()->find(name)) cursor.fail(fmt::format("the symbol {} is there already", name), position);
        if (!cursor.accept_keyword("in")) cursor.fail_expected("'in'");
        const std::int64_t low = cursor.integer();
        cursor.expect("..");
        const std::int64_t high = cursor.integer();
        with_location(cursor, position, [&] { return graph_->symbols()->add(name, low, high); });
    } while (cursor.accept(","));
    cursor.expect(")");
    expect_end(cursor);
}

void GraphParser::read_node(TextCursor& cursor) {
    cursor.expect("%");
    const std::size_t position = cursor.position();
    const std::int64_t number = cursor.integer();
    if (numbers_.contains(number)) cursor.fail(fmt::format("%{} is there already", number), position);
    cursor.expect("=");
    cursor.peek();
    const std::size_t op_position = cursor.position();
    const std::string_view name = cursor.name();
    const auto op = ir::find_op(name);
    if (!op) cursor.fail(fmt::format("there is no op '{}'", name), op_position);
    const bool leaf = *op == Op::input || *op == Op::weight || *op == Op::state_read;
    const NodeId id = *op == Op::constant ? read_constant(cursor)
                      : leaf              ? read_leaf(cursor, *op)
                                          : read_op(cursor, *op);
    numbers_.emplace(number, id);
    if (!label_.empty()) graph_->set_label(id, label_);
}

NodeId GraphParser::read_leaf(TextCursor& cursor, Op op) {
    cursor.peek();
    const std::size_t position = cursor.position();
    const std::string name = read_name(cursor);
    if (op == Op::state_read && cursor.accept_keyword("initial")) return read_state_with_values(cursor, name, position);
    Attributes attributes;
    read_attributes(cursor, attributes);
    DType dtype{};
    Shape shape;
    read_type(cursor, dtype, shape);
    return with_location(cursor, position, [&] {
        if (op == Op::state_read) {
            if (!attributes.empty() && attributes.size() != 2)
                throw Error(ErrorKind::graph, "state_read", "takes the attributes axis and capacity, or none");
            const std::size_t index = attributes.empty()
                                          ? ir::add_state(*graph_, name, dtype, shape, {})
                                          : ir::add_state(*graph_, name, dtype, shape, attributes.integer("axis"),
                                                          attributes.integer("capacity"), {});
            return graph_->states()[index].read;
        }
        if (!attributes.empty()) throw Error(ErrorKind::graph, ir::info(op).name, "takes no attributes");
        return op == Op::input ? ir::add_input(*graph_, name, dtype, shape, {})
                               : ir::add_weight(*graph_, name, dtype, shape, {});
    });
}

NodeId GraphParser::read_constant(TextCursor& cursor) {
    cursor.peek();
    const std::size_t position = cursor.position();
    const ConstantData table = read_table(cursor);
    return with_location(cursor, position, [&] {
        return table.is_exact ? ir::add_constant(*graph_, table.dtype, table.shape, std::span(table.exact), {})
                              : ir::add_constant(*graph_, table.dtype, table.shape, std::span(table.values), {});
    });
}

NodeId GraphParser::read_state_with_values(TextCursor& cursor, const std::string& name, std::size_t position) {
    cursor.expect("=");
    const ConstantData table = read_table(cursor);
    const std::size_t index = with_location(cursor, position, [&] {
        return table.is_exact ? ir::add_state(*graph_, name, table.dtype, table.shape, std::span(table.exact), {})
                              : ir::add_state(*graph_, name, table.dtype, table.shape, std::span(table.values), {});
    });
    return graph_->states()[index].read;
}

GraphParser::ConstantData GraphParser::read_table(TextCursor& cursor) {
    cursor.peek();
    const std::size_t position = cursor.position();
    const bool scalar = cursor.peek() != '{';
    ConstantData table;
    table.values = read_values<double>(cursor, [&] { return cursor.number(); });
    read_type(cursor, table.dtype, table.shape);
    if (scalar != table.shape.empty()) cursor.fail("a scalar is written bare, a table in braces", position);
    const auto is_large = [](double value) { return std::fabs(value) >= 0x1p53; };
    if (table.dtype != DType::i64 || std::none_of(table.values.begin(), table.values.end(), is_large)) {
        for (const double value : table.values) expect_representable(cursor, table.dtype, value, position);
        return table;
    }
    // The type, read after the values, shows that digits count which a double loses: read them again as integers.
    const std::size_t end = cursor.position();
    cursor.seek(position);
    table.exact = read_values<std::int64_t>(cursor, [&] { return read_integer(cursor); });
    table.is_exact = true;
    cursor.seek(end);
    return table;
}

template <typename T, typename Read>
std::vector<T> GraphParser::read_values(TextCursor& cursor, Read read) {
    if (!cursor.accept("{")) return {read()};
    std::vector<T> values;
    if (cursor.accept("}")) return values;
    do { values.push_back(read()); } while (cursor.accept(","));
    cursor.expect("}");
    return values;
}

void GraphParser::expect_representable(TextCursor& cursor, DType dtype, double value, std::size_t position) {
    if (!ir::can_hold(dtype, value))
        cursor.fail(fmt::format("the number {} is no {}", types::number_text(value), to_string(dtype)), position);
}

// An integer, in digits alone or as `1e18`.
std::int64_t GraphParser::read_integer(TextCursor& cursor) {
    cursor.peek();
    const std::size_t position = cursor.position();
    const double nearest = cursor.number();
    const std::size_t end = cursor.position();
    cursor.seek(position);
    const bool is_in_range = nearest >= -0x1p63 && nearest <= 0x1p63;
    if (is_in_range && std::trunc(nearest) == nearest) {
        const std::int64_t value = cursor.integer();
        if (cursor.position() == end) return value;
        cursor.seek(end);
    }
    expect_representable(cursor, DType::i64, nearest, position);
    return ir::truncate_to(DType::i64, nearest);
}

NodeId GraphParser::read_op(TextCursor& cursor, Op op) {
    const std::size_t position = cursor.position() - ir::info(op).name.size();
    std::vector<NodeId> operands;
    if (cursor.peek() == '%') {
        do { operands.push_back(read_reference(cursor)); } while (cursor.accept(","));
    }
    Attributes attributes;
    read_attributes(cursor, attributes);
    DType dtype{};
    Shape shape;
    read_type(cursor, dtype, shape);
    const NodeId id = with_location(cursor, position, [&] { return graph_->make(op, operands, attributes, {}); });
    const ir::Node& node = graph_->node(id);
    if (node.dtype != dtype || node.shape != shape)
        cursor.fail(fmt::format("the result is {}, not {}", to_string(node.dtype, node.shape), to_string(dtype, shape)),
                    position);
    return id;
}

void GraphParser::read_attributes(TextCursor& cursor, Attributes& attributes) {
    while (cursor.peek() != ':' && !cursor.at_end()) {
        Attribute attribute;
        attribute.name = cursor.name();
        if (attribute.name.empty()) cursor.fail_expected("':'");
        cursor.expect("=");
        if (cursor.peek() == '(')
            attribute.value = types::parse_dims(cursor, *graph_->symbols(), UnknownSymbol::refuse, "(", ")");
        else
            attribute.value = cursor.number();
        attributes.push_back(std::move(attribute));
    }
}

NodeId GraphParser::read_reference(TextCursor& cursor) {
    cursor.expect("%");
    const std::size_t position = cursor.position();
    const std::int64_t number = cursor.integer();
    const auto it = numbers_.find(number);
    if (it == numbers_.end()) cursor.fail(fmt::format("there is no %{} above", number), position);
    return it->second;
}

void GraphParser::read_type(TextCursor& cursor, DType& dtype, Shape& shape) {
    cursor.expect(":");
    types::parse_tensor_type(cursor, *graph_->symbols(), UnknownSymbol::refuse, dtype, shape);
    read_label(cursor);
    expect_end(cursor);
}

// The user's name of a value, after its type.
void GraphParser::read_label(TextCursor& cursor) {
    label_.clear();
    if (!cursor.accept_keyword("as")) return;
    cursor.peek();
    const std::size_t position = cursor.position();
    label_ = read_name(cursor);
    if (graph_->has_label(label_))
        cursor.fail(fmt::format("a value is called {} already", ir::quoted(label_)), position);
}

void GraphParser::read_output(TextCursor& cursor) {
    cursor.peek();
    const std::size_t position = cursor.position();
    const std::string name = read_name(cursor);
    const Tensor tensor(graph_, read_reference(cursor));
    expect_end(cursor);
    for (const ir::Output& output : graph_->outputs())
        if (output.name == name) cursor.fail(fmt::format("the output {} is there already", ir::quoted(name)), position);
    graph_->add_output(name, tensor.id());
}

void GraphParser::read_commit(TextCursor& cursor) {
    cursor.peek();
    const std::size_t position = cursor.position();
    const std::string name = read_name(cursor);
    const NodeId latest = read_reference(cursor);
    expect_end(cursor);
    std::vector<ir::StateInfo>& states = graph_->states();
    const auto it = std::find_if(states.begin(), states.end(), [&](const auto& state) { return state.name == name; });
    if (it == states.end()) cursor.fail(fmt::format("there is no state {} above", ir::quoted(name)), position);
    const auto done = static_cast<std::ptrdiff_t>(committed_.size());
    if (it - states.begin() < done)
        cursor.fail(fmt::format("the state {} is committed already", ir::quoted(name)), position);
    if (ir::state_origin(*graph_, latest) != it->read)
        cursor.fail(fmt::format("the node is no version of the state {}", ir::quoted(name)), position);
    it->latest = latest;
    std::rotate(states.begin() + done, it, it + 1);  // states are in the order of these lines
    committed_.push_back(name);
}

void GraphParser::finish(std::size_t line) const {
    const auto fail = [&](const std::string& text) {
        throw Error(ErrorKind::argument, "parse_graph", fmt::format("line {}, column 1: {}", line, text));
    };
    if (committed_.size() < graph_->states().size())
        fail(fmt::format("a last line 'state {} %...' is missing",
                         ir::quoted(graph_->states()[committed_.size()].name)));
    if (const std::string fault = ir::verify_state_versions(*graph_); !fault.empty()) fail(fault);
}

std::string GraphParser::read_name(TextCursor& cursor, bool bare) {
    cursor.peek();
    const std::size_t position = cursor.position();
    std::string name;
    if (bare && cursor.peek() != '"') {
        name = cursor.name(true);
        if (name.empty()) cursor.fail_expected("a name");
    } else {
        name = ir::read_json_string(cursor);
    }
    if (const std::string fault = ir::verify_name(name); !fault.empty()) cursor.fail("the name " + fault, position);
    return name;
}

void GraphParser::expect_end(TextCursor& cursor) {
    if (!cursor.at_end()) cursor.fail_expected("the end of the line");
}

}  // namespace

Graph parse_graph(std::string_view text) { return Graph(GraphParser().read(text)); }

}  // namespace cairn::inline v0
