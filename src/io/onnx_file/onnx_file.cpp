#include "io/onnx_file/onnx_file.hpp"

#include "io/mapped_file/mapped_file.hpp"
#include "io/onnx_file/resolve_names.hpp"

namespace cairn::inline v0::onnx {

OnnxFile::OnnxFile(const std::filesystem::path& path)
    : file_(std::make_shared<const files::MappedFile>(path, "onnx")),
      model_(parse_model(file_->bytes(), file_->name())) {
    resolve_names(model_, file_->name());
    external_files_ = map_external_data(model_, path);
}

const std::string& OnnxFile::name() const noexcept { return file_->name(); }

}  // namespace cairn::inline v0::onnx
