#include "io/onnx_operators/operators.hpp"

#include "io/onnx_node/known_index.hpp"

#include <fmt/format.h>

#include <array>

namespace cairn::inline v0::onnx {
namespace {

Known integers(std::vector<std::int64_t> dims, const std::vector<std::int64_t>& values) {
    return {ElementType::i64, std::move(dims), {values.begin(), values.end()}, {}};
}

Known floats(std::vector<std::int64_t> dims, std::vector<double> values) {
    return {ElementType::f32, std::move(dims), {}, std::move(values)};
}

void make_constant(Node& node) {
    if (const TensorProto* const tensor = node.tensor_attribute("value"))
        return node.set(0, node.importer().stored(*tensor, node.output_name(0)));
    if (node.has_attribute("value_int")) return node.set(0, integers({}, {node.integer("value_int")}));
    if (node.has_attribute("value_float")) return node.set(0, floats({}, {node.real("value_float")}));
    if (node.has_attribute("value_ints")) {
        const std::vector<std::int64_t> values = node.integers("value_ints");
        return node.set(0, integers({static_cast<std::int64_t>(values.size())}, values));
    }
    if (node.has_attribute("value_floats")) {
        std::vector<double> values = node.reals("value_floats");
        return node.set(0, floats({static_cast<std::int64_t>(values.size())}, std::move(values)));
    }
    node.refuse("its value is neither a dense tensor nor numbers");
}

/// The value of ConstantOfShape: one number of any type, f32 zero by default.
Known fill_of(const Node& node) {
    const TensorProto* const tensor = node.tensor_attribute("value");
    if (tensor == nullptr) return Known::number(ElementType::f32, 0);
    const std::optional<Known> value = known_from(*tensor);
    if (!value.has_value() || value->count() != 1)
        node.refuse(fmt::format("its value is no single number of a supported type ({})", to_string(tensor->type)));
    return {value->type, {}, value->integers, value->floats};
}

bool fold_constant_of_shape(Node& node) {
    const std::optional<std::vector<std::int64_t>> dims = constant_dims(node.sizes(0, "input"));
    if (!dims.has_value() || elements_of(*dims) > most_known_elements) return false;
    node.set(0,
             picked(fill_of(node), *dims, std::vector<std::size_t>(static_cast<std::size_t>(elements_of(*dims)), 0)));
    return true;
}

void make_constant_of_shape(Node& node) {
    const Shape shape = node.sizes(0, "input");
    node.set(0, broadcast(tensor_of(fill_of(node), node.graph()), shape));
}

void make_identity(Node& node) { node.set(0, node.value_ptr(0)); }

bool fold_identity(Node& node) {
    node.set(0, node.value_ptr(0));
    return true;
}

/// At inference all elements are kept.
void make_dropout(Node& node) {
    if (node.opset() >= 12 && node.has(2)) {
        const bool trains = node.integer(2, "training_mode") != 0;
        if (trains && (!node.has(1) || node.number(1, "ratio") != 0))
            node.refuse("it drops random elements in training mode");
    }
    node.set(0, node.value_ptr(0));
    if (node.wants(1)) node.set(1, broadcast(node.graph().constant(DType::boolean, 1), node.shape(0)));
}

constexpr std::array<Operator, 4> constant_rows{{{"Constant", 1, make_constant},
                                                 {"ConstantOfShape", 9, make_constant_of_shape, fold_constant_of_shape},
                                                 {"Identity", 1, make_identity, fold_identity},
                                                 {"Dropout", 7, make_dropout}}};

}  // namespace

std::span<const Operator> constant_operators() { return constant_rows; }

}  // namespace cairn::inline v0::onnx
