#include "cairn/dequantize.hpp"
#include "cairn/gguf.hpp"
#include "cairn/graph.hpp"
#include "cairn/weights.hpp"
#include "io/mapped_file/file_error.hpp"
#include "io/suggest_names/suggest_names.hpp"
#include "io/weights/safetensors_dtype.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace cairn::inline v0 {
namespace {

Tensor add_weight(Graph& graph, const Safetensors& file, const Safetensors::Tensor& tensor,
                  const std::source_location& where) {
    const auto* row = weights::find_safetensors_dtype(tensor.dtype);
    if (row == nullptr || !row->dtype) static_cast<void>(file.view(tensor.name));  // throws, naming file and dtype
    const Shape shape(tensor.shape.begin(), tensor.shape.end());
    const Tensor stored = graph.weight(tensor.name, row->dtype.value(), shape, where);
    return row->widen == nullptr ? stored : row->widen(Operand(stored, where));
}

Tensor add_weight(Graph& graph, const Gguf& file, const Gguf::Tensor& tensor, const std::source_location& where) {
    const InputView view = file.view(tensor.name);
    if (view.release != nullptr) view.release(view.owner);  // an aligned copy
    const Shape shape(view.shape.begin(), view.shape.end());
    const Tensor stored = graph.weight(tensor.name, view.dtype, shape, where);
    if (view.shape == tensor.shape) return stored;
    try {
        return dequantize(Operand(stored, where), tensor.type);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        throw Error(ErrorKind::unsupported, "weights",
                    file.path().string() + ": tensor " + files::printable(tensor.name) + " has the type " +
                        tensor.type + ", which Cairn cannot dequantize",
                    where);
    }
}

/// The prefixes of the file are its names up to each dot: "a.b.w" has "a." and "a.b.".
template <typename File>
[[noreturn]] void throw_no_prefix(const File& file, std::string_view prefix, const std::source_location& where) {
    std::set<std::string_view> prefixes;
    std::vector<std::string_view> names;
    for (const auto& tensor : file.tensors()) {
        const std::string_view name = tensor.name;
        names.push_back(name);
        for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
            prefixes.insert(name.substr(0, dot + 1));
    }
    const std::string candidates =
        prefixes.empty() ? files::suggestion_text(prefix, names, "tensors")
                         : files::suggestion_text(prefix, {prefixes.begin(), prefixes.end()}, "prefixes") + ", of " +
                               std::to_string(names.size()) + " tensors";
    throw Error(ErrorKind::file, "weights",
                file.path().string() + ": no tensor begins with " + files::printable(prefix) + ", " + candidates,
                where);
}

template <typename File>
Tensor weight_of(Graph& graph, const File& file, std::string_view name, const std::source_location& where) {
    const auto& tensors = file.tensors();
    const auto it = std::lower_bound(tensors.begin(), tensors.end(), name,
                                     [](const auto& tensor, std::string_view wanted) { return tensor.name < wanted; });
    if (it == tensors.end() || it->name != name) static_cast<void>(file.view(name));  // throws, naming file and name
    return add_weight(graph, file, *it, where);
}

template <typename File>
WeightMap::Map weights_of(Graph& graph, const File& file, std::string_view prefix, const std::source_location& where) {
    WeightMap::Map found;
    for (const auto& tensor : file.tensors())
        if (tensor.name.starts_with(prefix))
            found.emplace(tensor.name.substr(prefix.size()), add_weight(graph, file, tensor, where));
    if (found.empty() && !prefix.empty()) throw_no_prefix(file, prefix, where);
    return found;
}

}  // namespace

Tensor Graph::weight(const Safetensors& file, std::string_view name, std::source_location where) {
    return weight_of(*this, file, name, where);
}
Tensor Graph::weight(const Gguf& file, std::string_view name, std::source_location where) {
    return weight_of(*this, file, name, where);
}

WeightMap Graph::weights(const Safetensors& file, std::string_view prefix, std::source_location where) {
    return WeightMap(weights_of(*this, file, prefix, where), file.path().string(), std::string(prefix));
}
WeightMap Graph::weights(const Gguf& file, std::string_view prefix, std::source_location where) {
    return WeightMap(weights_of(*this, file, prefix, where), file.path().string(), std::string(prefix));
}

std::string WeightMap::missing(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const auto& [known, weight] : by_name_) names.push_back(known);
    const std::string under = prefix_.empty() ? "" : " under the prefix " + files::printable(prefix_);
    return file_ + ": there is no tensor " + files::printable(name) + under + ", " +
           files::suggestion_text(name, names, "tensors" + (under.empty() ? under : " there"));
}

const Tensor& WeightMap::at(std::string_view name, std::source_location where) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) throw Error(ErrorKind::file, "weights", missing(name), where);
    return found->second;
}

const Tensor& WeightMap::operator[](std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) throw Error(ErrorKind::file, "weights", missing(name));
    return found->second;
}

}  // namespace cairn::inline v0
