#include "io/onnx_file/onnx_file.hpp"

#include "io/onnx_file/resolve_names.hpp"
#include "io/weights/mapped_file.hpp"

namespace cairn::onnx {

OnnxFile::OnnxFile(const std::filesystem::path& path)
    : file_(std::make_shared<const weights::MappedFile>(path, "onnx")),
      model_(parse_model(file_->bytes(), file_->name())) {
    resolve_names(model_, file_->name());
}

const std::string& OnnxFile::name() const noexcept { return file_->name(); }

}  // namespace cairn::onnx
