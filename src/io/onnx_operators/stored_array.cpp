#include "io/onnx_operators/stored_array.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

namespace cairn::inline v0::onnx {
namespace {

template <typename T>
Tensor stored_elements(Node& node, std::string_view part, ElementType type, std::vector<std::int64_t> dims,
                       const std::vector<T>& elements) {
    auto bytes = std::make_shared<std::vector<std::byte>>(elements.size() * sizeof(T));
    if (!elements.empty()) std::memcpy(bytes->data(), elements.data(), bytes->size());
    TensorProto tensor;
    tensor.name = fmt::format("{}.{}", node.output_count() != 0 ? node.output_name(0) : node.op(), part);
    tensor.type = type;
    tensor.dims = std::move(dims);
    tensor.data = *bytes;
    tensor.owned = std::move(bytes);
    // The weight is added at once: it keeps a copy of the message, which shares the elements.
    return node.importer().stored(tensor, tensor.name)->tensor(node.graph());
}

template <typename T>
std::vector<double> elements_as_double(const TensorProto& tensor) {
    std::vector<double> result;
    for (std::size_t at = 0; at + sizeof(T) <= tensor.data.size(); at += sizeof(T)) {
        T element;
        std::memcpy(&element, tensor.data.data() + at, sizeof(T));
        result.push_back(static_cast<double>(element));
    }
    return result;
}

}  // namespace

std::vector<double> numbers_of(const Node& node, const TensorProto& tensor) {
    if (tensor.is_external) node.refuse("a tensor of its attributes is in another file");
    switch (tensor.type) {
        case ElementType::f32: return elements_as_double<float>(tensor);
        case ElementType::f64: return elements_as_double<double>(tensor);
        case ElementType::u8: return elements_as_double<std::uint8_t>(tensor);
        case ElementType::i8: return elements_as_double<std::int8_t>(tensor);
        case ElementType::i32: return elements_as_double<std::int32_t>(tensor);
        default: node.refuse(fmt::format("a tensor of its attributes is of {}", to_string(tensor.type)));
    }
}

Tensor stored_integers(Node& node, std::string_view part, std::vector<std::int64_t> dims,
                       const std::vector<std::int32_t>& elements) {
    return stored_elements(node, part, ElementType::i32, std::move(dims), elements);
}

Tensor stored_floats(Node& node, std::string_view part, std::vector<std::int64_t> dims,
                     const std::vector<double>& elements, DType dtype) {
    if (dtype == DType::f64) return stored_elements(node, part, ElementType::f64, std::move(dims), elements);
    const std::vector<float> narrow(elements.begin(), elements.end());
    return stored_elements(node, part, ElementType::f32, std::move(dims), narrow);
}

}  // namespace cairn::inline v0::onnx
