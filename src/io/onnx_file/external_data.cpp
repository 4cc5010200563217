#include "io/onnx_file/external_data.hpp"

#include "io/mapped_file/fault_list.hpp"
#include "io/mapped_file/mapped_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>

namespace cairn::inline v0::onnx {
namespace {

class ExternalDataMapper {
public:
    explicit ExternalDataMapper(const std::filesystem::path& path) : folder_(path.parent_path()) {}

    void visit(GraphProto& graph) {
        for (TensorProto& tensor : graph.initializers) visit(tensor);
        visit(graph.nodes);
    }
    void visit(std::vector<NodeProto>& nodes) {
        for (NodeProto& node : nodes)
            for (AttributeProto& attribute : node.attributes) visit(attribute);
    }
    void visit(AttributeProto& attribute) {
        for (TensorProto& tensor : attribute.tensors) visit(tensor);
        for (GraphProto& graph : attribute.graphs) visit(graph);
    }

    files::FaultList& faults() noexcept { return faults_; }
    ExternalFiles& files() noexcept { return files_; }

private:
    void visit(TensorProto& tensor) {
        if (!tensor.is_external) return;
        try {
            tensor.data = bytes_of(tensor);
            tensor.is_external = false;
        } catch (const Error& error) { faults_.add(error.what()); }
    }

    std::span<const std::byte> bytes_of(const TensorProto& tensor) {
        const auto location = tensor.external.find("location");
        if (location == tensor.external.end()) fail(tensor, "has no location of its external data");
        if (bits_of(tensor.type) == 0) fail(tensor, fmt::format("of {} cannot be external", to_string(tensor.type)));
        const std::span<const std::byte> bytes = file_at(location->second).bytes();
        const std::uint64_t wanted = tensor.raw_bytes();
        const std::uint64_t offset = number_of(tensor, "offset").value_or(0);
        const std::uint64_t length = number_of(tensor, "length").value_or(wanted);
        if (length != wanted)
            fail(tensor, fmt::format("has {} external bytes for {} elements of {}", length, tensor.elements(),
                                     to_string(tensor.type)));
        if (offset > bytes.size() || length > bytes.size() - offset)
            fail(tensor, fmt::format("is bytes {} to {} of a file of {}", offset, offset + length, bytes.size()));
        return bytes.subspan(offset, length);
    }

    const files::MappedFile& file_at(const std::string& location) {
        auto& file = files_[location];
        if (file == nullptr) file = std::make_shared<const files::MappedFile>(folder_, location, "onnx");
        return *file;
    }

    std::optional<std::uint64_t> number_of(const TensorProto& tensor, std::string_view key) const {
        const auto it = tensor.external.find(std::string(key));
        if (it == tensor.external.end()) return std::nullopt;
        const std::string& text = it->second;
        std::uint64_t value = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (fault != std::errc() || end != text.data() + text.size())
            fail(tensor, fmt::format("has the {} {} of external data", key, files::printable(text)));
        return value;
    }

    [[noreturn]] void fail(const TensorProto& tensor, const std::string& what) const {
        throw Error(ErrorKind::file, fmt::format("tensor {} {}", files::printable(tensor.name), what));
    }

    std::filesystem::path folder_;
    ExternalFiles files_;
    files::FaultList faults_;
};

}  // namespace

ExternalFiles map_external_data(ModelProto& model, const std::filesystem::path& path) {
    ExternalDataMapper mapper(path);
    mapper.visit(model.graph);
    for (FunctionProto& function : model.functions) {
        mapper.visit(function.nodes);
        for (AttributeProto& attribute : function.defaults) mapper.visit(attribute);
    }
    mapper.faults().throw_if_any("onnx", path.string());
    return std::move(mapper.files());
}

}  // namespace cairn::inline v0::onnx
