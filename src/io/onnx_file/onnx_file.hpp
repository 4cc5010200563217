#pragma once

#include "io/onnx_file/external_data.hpp"
#include "io/onnx_file/model_proto.hpp"

#include <filesystem>
#include <memory>

/// ONNX files: mapped, parsed and checked.
namespace cairn::inline v0::onnx {

/// A model in a mapped file, and the files beside it that hold external data. Elements of tensors are views into the
/// mapping: no weight is copied.
class OnnxFile {
public:
    /// Throws Error(file) if the file cannot be mapped, parsed (parse_model) or resolved (resolve_names), or its
    /// external data cannot be mapped (map_external_data).
    explicit OnnxFile(const std::filesystem::path& path);

    const ModelProto& model() const noexcept { return model_; }
    const std::string& name() const noexcept;

private:
    std::shared_ptr<const files::MappedFile> file_;
    ModelProto model_;
    ExternalFiles external_files_;
};

}  // namespace cairn::inline v0::onnx
