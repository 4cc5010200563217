#include "io/onnx_operators/control_flow.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/value_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

// Sequences are lists known at import, and so are optionals.
namespace cairn::inline v0::onnx {
namespace {

const std::vector<ValuePtr>& elements_of_sequence(const Node& node, std::size_t input) {
    if (node.value(input).kind() != Value::Kind::sequence) node.refuse(fmt::format("input {} is no sequence", input));
    return node.value(input).elements();
}

/// A position in a sequence, counted from the front, below `end`.
std::ptrdiff_t sequence_position(const Node& node, std::size_t input, std::size_t size, std::size_t end) {
    const std::int64_t given = node.integer(input, "the position"), count = static_cast<std::int64_t>(size);
    const std::int64_t position = given < 0 ? given + count : given;
    if (position < 0 || position >= static_cast<std::int64_t>(end))
        node.refuse(fmt::format("position {} is outside a sequence of {}", given, size));
    return static_cast<std::ptrdiff_t>(position);
}

void make_sequence_construct(Node& node) {
    std::vector<ValuePtr> elements;
    for (std::size_t i = 0; i < node.input_count(); ++i) elements.push_back(node.value_ptr(i));
    const ElementType type = elements.empty() ? ElementType::f32 : elements.front()->type();
    node.set(0, Value::sequence(std::move(elements), type));
}

void make_sequence_empty(Node& node) {
    const ElementType type = node.element_type("dtype", ElementType::f32);
    if (type == ElementType::undefined) node.refuse("its dtype is that of no elements");
    node.set(0, Value::sequence({}, type));
}

void make_sequence_insert(Node& node) {
    std::vector<ValuePtr> elements = elements_of_sequence(node, 0);
    const std::size_t size = elements.size();
    const std::ptrdiff_t position =
        node.has(2) ? sequence_position(node, 2, size, size + 1) : static_cast<std::ptrdiff_t>(size);
    elements.insert(elements.begin() + position, node.value_ptr(1));
    node.set(0, Value::sequence(std::move(elements), node.type(1)));
}

void make_sequence_erase(Node& node) {
    std::vector<ValuePtr> elements = elements_of_sequence(node, 0);
    const std::size_t size = elements.size();
    if (size == 0) node.refuse("its sequence is empty");
    const std::ptrdiff_t position =
        node.has(1) ? sequence_position(node, 1, size, size) : static_cast<std::ptrdiff_t>(size - 1);
    elements.erase(elements.begin() + position);
    node.set(0, Value::sequence(std::move(elements), node.type(0)));
}

void make_sequence_at(Node& node) {
    const std::vector<ValuePtr>& elements = elements_of_sequence(node, 0);
    node.set(0, elements[static_cast<std::size_t>(sequence_position(node, 1, elements.size(), elements.size()))]);
}

void make_sequence_length(Node& node) {
    node.set(0, Known::scalar(ElementType::i64, elements_of_sequence(node, 0).size()));
}

/// Sizes of the parts that SplitToSequence makes along an axis of this size.
Shape split_sizes(const Node& node, const Dim& size) {
    const bool is_list = node.has(1) && node.rank(1) == 1;
    if (is_list) return node.sizes(1, "split");
    if (!size.is_constant())
        node.refuse(fmt::format("the number of parts depends on the size {}", cairn::to_string(size)));
    const std::int64_t length = node.has(1) ? node.integer(1, "split") : 1;
    if (length < 1) node.refuse(fmt::format("its split is {}", length));
    Shape sizes;
    for (std::int64_t start = 0; start < size.constant(); start += length)
        sizes.emplace_back(std::min(length, size.constant() - start));
    return sizes;
}

void make_split_to_sequence(Node& node) {
    const Shape shape = node.shape(0);
    const int axis = node.axis(node.integer("axis", 0), static_cast<int>(shape.size()));
    const Dim& size = shape[static_cast<std::size_t>(axis)];
    const bool keeps_axis = node.has(1) || node.integer("keepdims", 1) != 0;
    std::vector<ValuePtr> parts = parts_of(node.value(0), node.graph(), axis, split_sizes(node, size));
    if (!keeps_axis)
        for (ValuePtr& part : parts) part = without_axis(part, node.graph(), axis);
    node.set(0, Value::sequence(std::move(parts), node.type(0)));
}

void make_concat_from_sequence(Node& node) {
    const std::vector<ValuePtr>& elements = elements_of_sequence(node, 0);
    if (elements.empty()) node.refuse("its sequence is empty");
    const bool is_new = node.integer("new_axis", 0) != 0;
    const int rank = static_cast<int>(elements.front()->shape().size()) + (is_new ? 1 : 0);
    const int axis = node.axis(node.integer("axis"), rank);
    node.set(0, is_new ? stacked(elements, node.graph(), axis) : joined(elements, node.graph(), axis));
}

/// The body runs for each element of the first sequence.
void make_sequence_map(Node& node) {
    const GraphProto& body = node.graph_attribute("body");
    const std::size_t count = elements_of_sequence(node, 0).size();
    if (body.outputs.size() < node.output_count()) node.refuse("its body has too few outputs");
    std::vector<std::vector<ValuePtr>> results(node.output_count());
    for (std::size_t element = 0; element < count; ++element) {
        std::vector<ValuePtr> inputs;
        for (std::size_t i = 0; i < node.input_count(); ++i) {
            const bool is_sequence = node.value(i).kind() == Value::Kind::sequence;
            if (is_sequence && node.value(i).elements().size() != count)
                node.refuse(
                    fmt::format("its sequences have {} and {} elements", count, node.value(i).elements().size()));
            inputs.push_back(is_sequence ? node.value(i).elements()[element] : node.value_ptr(i));
        }
        const std::vector<ValuePtr> outputs = node.importer().import_graph(body, inputs);
        if (any_refused(outputs)) return set_refused(node);
        for (std::size_t i = 0; i < results.size(); ++i) results[i].push_back(outputs[i]);
    }
    for (std::size_t i = 0; i < results.size(); ++i) node.set(i, Value::sequence(results[i], body.outputs[i].type));
}

void make_optional(Node& node) { node.set(0, node.has(0) ? node.value_ptr(0) : Value::empty_optional()); }

void make_optional_get_element(Node& node) {
    if (node.value(0).kind() == Value::Kind::optional) node.refuse("its optional is empty");
    node.set(0, node.value_ptr(0));
}

void make_optional_has_element(Node& node) {
    const bool has_element = node.has(0) && node.value(0).kind() != Value::Kind::optional;
    node.set(0, Known::scalar(ElementType::boolean, has_element ? 1 : 0));
}

constexpr std::array<Operator, 12> sequence_rows{{{"SequenceConstruct", 11, make_sequence_construct},
                                                  {"SequenceEmpty", 11, make_sequence_empty},
                                                  {"SequenceInsert", 11, make_sequence_insert},
                                                  {"SequenceErase", 11, make_sequence_erase},
                                                  {"SequenceAt", 11, make_sequence_at},
                                                  {"SequenceLength", 11, make_sequence_length},
                                                  {"SplitToSequence", 11, make_split_to_sequence},
                                                  {"ConcatFromSequence", 11, make_concat_from_sequence},
                                                  {"SequenceMap", 17, make_sequence_map},
                                                  {"Optional", 15, make_optional},
                                                  {"OptionalGetElement", 15, make_optional_get_element},
                                                  {"OptionalHasElement", 15, make_optional_has_element}}};

}  // namespace

std::span<const Operator> sequence_operators() { return sequence_rows; }

}  // namespace cairn::inline v0::onnx
