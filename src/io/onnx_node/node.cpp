#include "io/onnx_node/node.hpp"

#include "io/mapped_file/file_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::inline v0::onnx {

Node::Node(const NodeProto& proto, std::int64_t opset, std::vector<ValuePtr> inputs, Graph graph,
           GraphImporter& importer)
    : proto_(proto),
      opset_(opset),
      inputs_(std::move(inputs)),
      outputs_(proto.outputs.size()),
      graph_(std::move(graph)),
      importer_(importer) {
    while (!inputs_.empty() && inputs_.back() == nullptr) inputs_.pop_back();
}

const ValuePtr& Node::value_ptr(std::size_t input) const {
    if (!has(input)) refuse(fmt::format("input {} is missing", input));
    return inputs_[input];
}

const Value& Node::value(std::size_t input) const { return *value_ptr(input); }

Tensor Node::tensor(std::size_t input) const {
    if (value(input).kind() == Value::Kind::tensor) dtype(input);
    return held(input);
}

Tensor Node::held(std::size_t input) const { return value(input).tensor(graph_); }

std::optional<Tensor> Node::optional_tensor(std::size_t input) const {
    return has(input) ? std::optional(tensor(input)) : std::nullopt;
}

DType Node::dtype(std::size_t input) const { return require_dtype(value(input).type()); }

const Known* Node::known(std::size_t input) const {
    return has(input) && inputs_[input]->kind() == Value::Kind::tensor ? inputs_[input]->known() : nullptr;
}

const Known& Node::elements(std::size_t input) const {
    value(input);
    const Known* const elements = known(input);
    if (elements == nullptr) refuse(fmt::format("the elements of input {} are not known", input));
    return *elements;
}

const Known& Node::require_known(std::size_t input, std::string_view what) const {
    value(input);
    const Known* const elements = known(input);
    if (elements == nullptr)
        refuse(
            fmt::format("the elements of {} ({}) must be known at import; if it depends on an input of the model, "
                        "give that input's value",
                        what, files::printable(proto_.inputs[input])));
    return *elements;
}

Shape Node::sizes(std::size_t input, std::string_view what) const {
    const Known& elements = require_known(input, what);
    if (elements.is_float()) refuse(fmt::format("{} holds floats, not integers", what));
    return elements.integers;
}

std::vector<std::int64_t> Node::integers(std::size_t input, std::string_view what) const {
    std::vector<std::int64_t> values;
    for (const Dim& dim : sizes(input, what)) {
        if (!dim.is_constant()) refuse(fmt::format("{} depends on the size {}", what, cairn::to_string(dim)));
        values.push_back(dim.constant());
    }
    return values;
}

std::int64_t Node::integer(std::size_t input, std::string_view what) const {
    const std::vector<std::int64_t> values = integers(input, what);
    if (values.size() != 1) refuse(fmt::format("{} has {} elements instead of one", what, values.size()));
    return values[0];
}

std::vector<double> Node::numbers(std::size_t input, std::string_view what) const {
    const Known& elements = require_known(input, what);
    if (elements.is_float()) return elements.floats;
    const std::vector<std::int64_t> values = integers(input, what);
    return {values.begin(), values.end()};
}

double Node::number(std::size_t input, std::string_view what) const {
    const std::vector<double> values = numbers(input, what);
    if (values.size() != 1) refuse(fmt::format("{} has {} elements instead of one", what, values.size()));
    return values[0];
}

const AttributeProto* Node::find(std::string_view name, AttributeProto::Kind kind) const {
    const AttributeProto* const attribute = proto_.find(name);
    if (attribute != nullptr && attribute->kind != kind)
        refuse(fmt::format("its attribute {} is {}, not {}", name, to_string(attribute->kind), to_string(kind)));
    return attribute;
}

std::int64_t Node::integer(std::string_view name, std::int64_t otherwise) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::i);
    return attribute != nullptr ? attribute->i : otherwise;
}

std::int64_t Node::integer(std::string_view name) const {
    if (!has_attribute(name)) refuse(fmt::format("its attribute {} is missing", name));
    return integer(name, 0);
}

ElementType Node::element_type(std::string_view name, ElementType otherwise) const {
    const std::int64_t number = integer(name, static_cast<std::int64_t>(otherwise));
    const std::optional<ElementType> type = element_type_of(number);
    if (!type.has_value()) refuse(fmt::format("its {} is {}, which is no element type", name, number));
    return *type;
}

double Node::real(std::string_view name, double otherwise) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::f);
    return attribute != nullptr ? static_cast<double>(attribute->f) : otherwise;
}

double Node::real(std::string_view name) const {
    if (!has_attribute(name)) refuse(fmt::format("its attribute {} is missing", name));
    return real(name, 0);
}

std::string Node::text(std::string_view name, std::string_view otherwise) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::s);
    return attribute != nullptr ? attribute->s : std::string(otherwise);
}

std::vector<std::int64_t> Node::integers(std::string_view name) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::ints);
    return attribute != nullptr ? attribute->ints : std::vector<std::int64_t>();
}

std::vector<double> Node::reals(std::string_view name) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::floats);
    if (attribute == nullptr) return {};
    return {attribute->floats.begin(), attribute->floats.end()};
}

std::vector<std::string> Node::texts(std::string_view name) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::strings);
    return attribute != nullptr ? attribute->strings : std::vector<std::string>();
}

const TensorProto* Node::tensor_attribute(std::string_view name) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::tensor);
    return attribute != nullptr ? &attribute->tensors.front() : nullptr;
}

const GraphProto& Node::graph_attribute(std::string_view name) const {
    const AttributeProto* const attribute = find(name, AttributeProto::Kind::graph);
    if (attribute == nullptr) refuse(fmt::format("its attribute {} is missing", name));
    return attribute->graphs.front();
}

std::optional<std::vector<std::int64_t>> Node::integers_of(std::string_view attribute, std::size_t input) const {
    if (has(input)) return integers(input, attribute);
    if (has_attribute(attribute)) return integers(attribute);
    return std::nullopt;
}

std::optional<Shape> Node::sizes_of(std::string_view attribute, std::size_t input) const {
    if (has(input)) return sizes(input, attribute);
    if (!has_attribute(attribute)) return std::nullopt;
    const std::vector<std::int64_t> values = integers(attribute);
    return Shape(values.begin(), values.end());
}

int Node::axis(std::int64_t axis, int rank) const {
    if (axis < -rank || axis >= rank) refuse(fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> Node::axes(const std::vector<std::int64_t>& axes, int rank) const {
    std::vector<int> result;
    for (const std::int64_t one : axes) {
        const int counted = axis(one, rank);
        if (std::ranges::find(result, counted) != result.end()) refuse(fmt::format("axis {} is named twice", one));
        result.push_back(counted);
    }
    return result;
}

void Node::set(std::size_t output, ValuePtr value) {
    if (output < outputs_.size()) outputs_[output] = std::move(value);
}

void Node::refuse(const std::string& reason) const { throw Refusal(reason); }

}  // namespace cairn::inline v0::onnx
