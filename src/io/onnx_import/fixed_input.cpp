#include "io/onnx_import/importer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace cairn::inline v0::onnx {
namespace {

bool is_dense(const InputView& view) {
    if (view.strides.empty()) return true;
    if (view.strides.size() != view.shape.size()) return false;
    std::int64_t stride = 1;
    for (std::size_t axis = view.shape.size(); axis-- > 0;) {
        if (view.shape[axis] != 1 && view.strides[axis] != stride) return false;
        stride *= view.shape[axis];
    }
    return true;
}

bool agrees(const Port& port, const std::vector<std::int64_t>& shape) {
    if (!port.has_shape) return true;
    if (port.shape.size() != shape.size()) return false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (const auto& stated = port.shape[axis].value; stated.has_value() && *stated >= 0 && *stated != shape[axis])
            return false;
    return true;
}

}  // namespace

ValuePtr Importer::fixed_input(const Port& port, const InputView& view) {
    const auto refuse = [&](const std::string& reason) {
        throw Error(ErrorKind::argument, "onnx", fmt::format("the value of the input '{}' {}", port.name, reason));
    };
    if (port.dtype != view.dtype) refuse(fmt::format("is {}, the input is of {}", to_string(view.dtype), port.type));
    if (!agrees(port, view.shape)) refuse(fmt::format("has the shape [{}]", fmt::join(view.shape, ",")));
    if (view.device != Device::cpu) refuse("is not on the CPU");
    if (!is_dense(view)) refuse("is not dense");
    TensorProto& tensor = fixed_.emplace_back();
    tensor.name = port.name;
    tensor.type = element_type_of(view.dtype);
    tensor.dims = view.shape;
    const std::size_t bytes = static_cast<std::size_t>(tensor.elements()) * size_of(view.dtype);
    auto copy = std::make_shared<std::vector<std::byte>>(bytes);
    if (bytes != 0) std::memcpy(copy->data(), view.data, bytes);
    tensor.data = *copy;
    tensor.owned = std::move(copy);
    if (view.release != nullptr) view.release(view.owner);
    return weights_.value(tensor, port.name + ".value");
}

}  // namespace cairn::inline v0::onnx
