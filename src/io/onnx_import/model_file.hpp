#pragma once

#include "io/onnx_file/onnx_file.hpp"

#include "cairn/onnx/model.hpp"

namespace cairn::inline v0::onnx {

/// A parsed file with its inputs and outputs as users see them.
class ModelFile {
public:
    explicit ModelFile(const std::filesystem::path& path);

    const OnnxFile file;
    std::vector<Port> inputs, outputs;
    std::size_t weight_bytes = 0;
};

}  // namespace cairn::inline v0::onnx
