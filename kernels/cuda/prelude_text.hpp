#pragma once

#include <string_view>

namespace cairn::kernels::cuda {

/// The texts of kernels/cuda/text, prelude.cuh first, that every kernel begins with: NVRTC has no headers. Kernels of
/// one program share one prelude, since the names of their entries differ.
std::string_view prelude_text();

}  // namespace cairn::kernels::cuda
