#include "cairn/graph.hpp"

#include "graph/ir/graph_data.hpp"
#include "graph/ir/graph_error.hpp"
#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/scalar_cast.hpp"
#include "graph/ir/valid_names.hpp"
#include "graph/types/element_type.hpp"
#include "graph/types/half.hpp"

#include <fmt/format.h>

#include <ostream>

namespace cairn::inline v0 {
namespace {

using ir::GraphData;
using ir::Node;
using ir::refuse;

const Node& node_of(const Tensor& tensor) {
    if (tensor.empty()) throw Error(ErrorKind::graph, "tensor", "the handle is empty or moved-from");
    return tensor.graph()->node(tensor.id());
}

/// The elements, of type T, each converted.
template <typename T, typename F>
auto converted(const detail::ElementSpan& elements, F convert) {
    std::vector<decltype(convert(T{}))> values;
    values.reserve(elements.count);
    for (const T element : std::span(static_cast<const T*>(elements.data), elements.count))
        values.push_back(convert(element));
    return values;
}

std::vector<double> numbers_of(DType dtype, const detail::ElementSpan& elements) {
    const auto as_number = [](auto element) { return static_cast<double>(element); };
    switch (dtype) {
        case DType::f16:
            return converted<std::uint16_t>(elements, [](auto half) -> double { return types::f16_to_f32(half); });
        case DType::bf16:
            return converted<std::uint16_t>(elements, [](auto half) -> double { return types::bf16_to_f32(half); });
        case DType::f32: return converted<float>(elements, as_number);
        default: return converted<double>(elements, as_number);
    }
}

std::vector<std::int64_t> integers_of(DType dtype, const detail::ElementSpan& elements) {
    const auto as_integer = [](auto element) { return static_cast<std::int64_t>(element); };
    switch (dtype) {
        case DType::boolean: return converted<bool>(elements, as_integer);
        case DType::i8: return converted<std::int8_t>(elements, as_integer);
        case DType::u8: return converted<std::uint8_t>(elements, as_integer);
        case DType::i32: return converted<std::int32_t>(elements, as_integer);
        default: return converted<std::int64_t>(elements, as_integer);
    }
}

}  // namespace

DType Tensor::dtype() const { return node_of(*this).dtype; }

const Shape& Tensor::shape() const { return node_of(*this).shape; }

int Tensor::rank() const { return static_cast<int>(shape().size()); }

Dim Tensor::dim(int axis) const {
    const int index = axis < 0 ? axis + rank() : axis;
    if (index < 0 || index >= rank())
        throw Error(ErrorKind::graph, "tensor",
                    fmt::format("axis {} is out of range for {}", axis, to_string(dtype(), shape())));
    return shape()[static_cast<std::size_t>(index)];
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
    if (tensor.empty()) return out << "(empty)";
    return out << '%' << tensor.id() << ' ' << to_string(tensor.dtype(), tensor.shape());
}

Graph::Graph(std::string_view name) {
    if (const std::string fault = ir::verify_name(name); !fault.empty())
        throw Error(ErrorKind::graph, "graph", "the name " + fault);
    data_ = std::make_shared<GraphData>(name);
}

const std::shared_ptr<GraphData>& Graph::data() const {
    if (data_ == nullptr) throw Error(ErrorKind::graph, "graph", "the handle is moved-from");
    return data_;
}

Dim Graph::symbol(std::string_view name, std::int64_t low, std::int64_t high, std::source_location where) {
    try {
        return data()->symbols()->add(name, low, high);
    } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("{} ({})", error.what(), Error::place(where)));
    }
}

Tensor Graph::input(std::string_view name, DType dtype, Shape shape, std::source_location where) {
    return Tensor(data(), ir::add_input(*data(), name, dtype, std::move(shape), where));
}

Tensor Graph::weight(std::string_view name, DType dtype, Shape shape, std::source_location where) {
    return Tensor(data(), ir::add_weight(*data(), name, dtype, std::move(shape), where));
}

State Graph::state(std::string_view name, DType dtype, Shape shape, int axis, std::int64_t capacity,
                   std::source_location where) {
    const auto size = static_cast<int>(shape.size());
    if (axis >= -size && axis < size && shape[static_cast<std::size_t>(axis < 0 ? axis + size : axis)].symbol().empty())
        refuse("state",
               fmt::format("{} must have a symbol as the size of axis {}: {}", ir::quoted(name), axis,
                           to_string(dtype, shape)),
               where);
    const std::size_t index = ir::add_state(*data(), name, dtype, std::move(shape), axis, capacity, where);
    return State(data(), static_cast<std::uint32_t>(index));
}

State Graph::state(std::string_view name, DType dtype, Shape shape, std::source_location where) {
    return State(data(), static_cast<std::uint32_t>(ir::add_state(*data(), name, dtype, std::move(shape), where)));
}

State Graph::state_from(std::string_view name, DType dtype, Shape shape, const detail::ElementSpan& initial,
                        std::source_location where) {
    if (!types::is_element_type_of(dtype, initial.dtype))
        refuse("state",
               fmt::format("{} is {}, got elements of {}", ir::quoted(name), to_string(dtype, shape),
                           types::element_type_text(initial.dtype)),
               where);
    const auto add = [&](const auto& values) {
        return ir::add_state(*data(), name, dtype, std::move(shape), std::span(values), where);
    };
    const std::size_t index = is_float(dtype) ? add(numbers_of(dtype, initial)) : add(integers_of(dtype, initial));
    return State(data(), static_cast<std::uint32_t>(index));
}

Tensor Graph::constant(DType dtype, Shape shape, std::span<const double> values, std::source_location where) {
    return Tensor(data(), ir::add_constant(*data(), dtype, std::move(shape), values, where));
}

Tensor Graph::constant(DType dtype, double value, std::source_location where) {
    return constant(dtype, Shape{}, std::span(&value, 1), where);
}

Tensor Graph::constant(DType dtype, const Dim& value, std::source_location where) {
    if (value.is_constant() && !ir::can_hold_integer(dtype, value.constant()))
        refuse("constant", fmt::format("the number {} is no {}", to_string(value), to_string(dtype)), where);
    return Tensor(data(), ir::add_size(*data(), dtype, value, where));
}

Tensor Graph::integers(DType dtype, Shape shape, const std::vector<std::int64_t>& values, std::source_location where) {
    return Tensor(data(), ir::add_constant(*data(), dtype, std::move(shape), std::span(values), where));
}

void Graph::output(std::string_view name, const Tensor& tensor, std::source_location where) {
    if (const std::string fault = ir::verify_name(name); !fault.empty()) refuse("output", "the name " + fault, where);
    const auto fail = [&](const std::string& text) { refuse("output", ir::quoted(name) + " " + text, where); };
    if (tensor.empty()) fail("is an empty or moved-from Tensor");
    const std::string type = to_string(tensor.dtype(), tensor.shape());
    if (tensor.graph() != data()) fail(fmt::format("is {} of another graph, \"{}\"", type, tensor.graph()->name()));
    for (const ir::Output& output : data()->outputs())
        if (output.name == name) {
            const Node& node = data()->node(output.node);
            fail(fmt::format("is taken by {}, cannot be {} too", to_string(node.dtype, node.shape), type));
        }
    data()->add_output(std::string(name), tensor.id());
}

const std::string& Graph::name() const { return data()->name(); }

Symbols& Graph::symbols() const { return *data()->symbols(); }

std::size_t Graph::size() const { return data()->nodes().size(); }

}  // namespace cairn::inline v0
