#include "cairn/graph.hpp"
#include "cairn/weights.hpp"
#include "weights/safetensors_dtype.hpp"

#include <algorithm>

namespace cairn::inline v0 {
namespace {

Tensor add_weight(Graph& graph, const Safetensors& file, const Safetensors::Tensor& tensor,
                  const std::source_location& where) {
    const auto* row = weights::find_safetensors_dtype(tensor.dtype);
    if (row == nullptr || !row->dtype) static_cast<void>(file.view(tensor.name));  // throws, naming file and dtype
    return graph.weight(tensor.name, row->dtype.value(), Shape(tensor.shape.begin(), tensor.shape.end()), where);
}

}  // namespace

Tensor Graph::weight(const Safetensors& file, std::string_view name, std::source_location where) {
    const std::vector<Safetensors::Tensor>& tensors = file.tensors();
    const auto it = std::lower_bound(tensors.begin(), tensors.end(), name,
                                     [](const auto& tensor, std::string_view wanted) { return tensor.name < wanted; });
    if (it == tensors.end() || it->name != name) static_cast<void>(file.view(name));  // throws, naming file and name
    return add_weight(*this, file, *it, where);
}

std::map<std::string, Tensor> Graph::weights(const Safetensors& file, std::string_view prefix,
                                             std::source_location where) {
    std::map<std::string, Tensor> found;
    for (const Safetensors::Tensor& tensor : file.tensors())
        if (tensor.name.starts_with(prefix))
            found.emplace(tensor.name.substr(prefix.size()), add_weight(*this, file, tensor, where));
    return found;
}

}  // namespace cairn::inline v0
