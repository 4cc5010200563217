#include "cairn/onnx/model.hpp"

#include "io/onnx_import/model_file.hpp"

#include <unordered_set>

namespace cairn::inline v0::onnx {
namespace {

Port port_of(const ValueProto& value) {
    Port port{value.name, {}, std::nullopt, value.has_shape, {}};
    if (value.kind == ValueProto::Kind::tensor) {
        port.type = to_string(value.type);
        port.dtype = dtype_of(value.type);
    }
    for (const DimensionProto& dim : value.dims) port.shape.push_back({dim.value, dim.parameter});
    return port;
}

}  // namespace

ModelFile::ModelFile(const std::filesystem::path& path) : file(path) {
    const GraphProto& graph = file.model().graph;
    std::unordered_set<std::string_view> initialized;
    for (const TensorProto& tensor : graph.initializers) {
        initialized.insert(tensor.name);
        weight_bytes += tensor.data.size();
    }
    for (const ValueProto& input : graph.inputs)
        if (!initialized.contains(input.name)) inputs.push_back(port_of(input));
    for (const ValueProto& output : graph.outputs) outputs.push_back(port_of(output));
}

Model Model::open(const std::filesystem::path& path) { return Model(std::make_shared<const ModelFile>(path)); }

const std::string& Model::name() const noexcept { return file_->file.name(); }
const std::vector<Port>& Model::inputs() const noexcept { return file_->inputs; }
const std::vector<Port>& Model::outputs() const noexcept { return file_->outputs; }
const std::map<std::string, std::int64_t>& Model::opsets() const noexcept { return file_->file.model().opsets; }
const std::map<std::string, std::string>& Model::metadata() const noexcept { return file_->file.model().metadata; }
std::size_t Model::node_count() const noexcept { return file_->file.model().graph.nodes.size(); }
std::size_t Model::weight_bytes() const noexcept { return file_->weight_bytes; }

}  // namespace cairn::inline v0::onnx
