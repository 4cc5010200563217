#pragma once

#include "io/onnx_file/model_proto.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace cairn::files {
class MappedFile;
}

namespace cairn::inline v0::onnx {

/// The files beside a model that hold elements of its tensors, by their path in it.
using ExternalFiles = std::map<std::string, std::shared_ptr<const files::MappedFile>, std::less<>>;

/// Maps the files that external tensors of a model name, nested graphs included, and makes `data` of these tensors a
/// view of them. `path` is that of the model. Throws Error(file) that lists all faults: a path that leads out of the
/// model's folder (MappedFile), an offset or a length outside the file, a length that is not that of the elements.
ExternalFiles map_external_data(ModelProto& model, const std::filesystem::path& path);

}  // namespace cairn::inline v0::onnx
