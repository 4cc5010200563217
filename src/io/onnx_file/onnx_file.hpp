#pragma once

#include "io/onnx_file/model_proto.hpp"

#include <filesystem>
#include <memory>

namespace cairn::weights {
class MappedFile;
}

/// ONNX files: mapped, parsed and checked.
namespace cairn::onnx {

/// A model in a mapped file. Elements of tensors are views into the mapping: no weight is copied.
class OnnxFile {
public:
    /// Throws Error(file) if the file cannot be mapped, parsed (parse_model) or resolved (resolve_names).
    explicit OnnxFile(const std::filesystem::path& path);

    const ModelProto& model() const noexcept { return model_; }
    const std::string& name() const noexcept;

private:
    std::shared_ptr<const weights::MappedFile> file_;
    ModelProto model_;
};

}  // namespace cairn::onnx
