#pragma once

#include <string>

namespace cairn::emulated_cuda {

/// A kernel text as NVRTC gets it: the files of kernels/cuda/text, then the kernel. `source_folder` contains them.
std::string with_prelude(const std::string& source_folder, const std::string& kernel);

/// One file of kernels/cuda/text. Throws std::runtime_error if it cannot be read.
std::string prelude_file(const std::string& source_folder, const std::string& name);

}  // namespace cairn::emulated_cuda
