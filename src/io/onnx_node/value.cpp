#include "io/onnx_node/value.hpp"

#include "io/onnx_node/refusal.hpp"

#include "cairn/ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

Tensor integers_of(const std::vector<Dim>& integers, DType dtype, const Shape& shape, const Graph& graph) {
    if (dtype == DType::i64) {
        std::vector<std::int64_t> values;
        for (const Dim& dim : integers) values.push_back(dim.constant());
        return Graph(graph).constant(values, shape);
    }
    std::vector<double> values;
    for (const Dim& dim : integers) values.push_back(static_cast<double>(dim.constant()));
    return Graph(graph).constant(dtype, shape, values);
}

}  // namespace

ValuePtr Value::of(Tensor tensor) {
    const ElementType type = element_type_of(tensor.dtype());
    return of(std::move(tensor), type);
}

ValuePtr Value::of(Tensor tensor, ElementType type) {
    auto value = std::make_shared<Value>();
    value->type_ = type;
    value->tensor_ = std::move(tensor);
    return value;
}

ValuePtr Value::of(Known known) {
    auto value = std::make_shared<Value>();
    value->type_ = known.type;
    value->known_ = std::move(known);
    return value;
}

ValuePtr Value::stored(const TensorProto& tensor, std::function<Tensor()> make) {
    auto value = std::make_shared<Value>();
    value->type_ = tensor.type;
    value->stored_ = &tensor;
    value->make_ = std::move(make);
    return value;
}

ValuePtr Value::sequence(std::vector<ValuePtr> elements, ElementType type) {
    auto value = std::make_shared<Value>();
    value->kind_ = Kind::sequence;
    value->type_ = type;
    value->elements_ = std::move(elements);
    return value;
}

ValuePtr Value::empty_optional() {
    auto value = std::make_shared<Value>();
    value->kind_ = Kind::optional;
    return value;
}

ValuePtr Value::refused() {
    auto value = std::make_shared<Value>();
    value->kind_ = Kind::refused;
    return value;
}

Shape Value::shape() const {
    if (kind_ != Kind::tensor) throw Refusal("an input is no tensor");
    if (stored_ != nullptr) return Shape(stored_->dims.begin(), stored_->dims.end());
    if (known_.has_value()) return Shape(known_->dims.begin(), known_->dims.end());
    return tensor_->shape();
}

const Known* Value::known() const {
    if (stored_ != nullptr && !known_.has_value() && !is_read_) {
        is_read_ = true;
        known_ = known_from(*stored_);
    }
    return known_.has_value() ? &*known_ : nullptr;
}

const Tensor& Value::tensor(const Graph& graph) const {
    if (kind_ != Kind::tensor) throw Refusal("an input is no tensor");
    if (!tensor_.has_value()) tensor_ = make_ ? make_() : tensor_of(*known_, graph);
    return *tensor_;
}

DType require_dtype(ElementType type) {
    const std::optional<DType> dtype = dtype_of(type);
    if (!dtype.has_value()) throw Refusal(fmt::format("there is no dtype for {}", to_string(type)));
    return *dtype;
}

Tensor tensor_of(const Known& known, const Graph& graph) {
    const DType dtype = require_dtype(known.type);
    const Shape shape(known.dims.begin(), known.dims.end());
    if (known.is_float()) return Graph(graph).constant(dtype, shape, known.floats);
    if (known.is_constant()) return integers_of(known.integers, dtype, shape, graph);
    std::vector<Tensor> elements;
    for (const Dim& dim : known.integers) elements.push_back(reshape(Graph(graph).constant(dtype, dim), {1}));
    return reshape(elements.size() == 1 ? elements[0] : concat(elements, 0), shape);
}

}  // namespace cairn::inline v0::onnx
