#pragma once

#include <string>
#include <vector>

namespace cairn::emulated_cuda {

/// A kernel text in C++, and the names of the kernels in it.
struct HostText {
    std::string text;
    std::vector<std::string> entries;
};

/// Turns CUDA C++ into C++ for device/language.hpp, line by line: a declaration of a shared variable becomes a
/// reference to the memory that the emulator gives the block. Everything else is unchanged. Kernels are the functions
/// declared `extern "C" __global__ void`.
///
///     __shared__ float x[8];          ->  ... float (&x)[8] = shared_variable ...
///     extern __shared__ float4 x[];   ->  float4* const x = dynamic_shared ...
///
/// `__shared__` comes before the type and its alignment; a declaration has one variable. Throws std::invalid_argument
/// naming the line of a declaration that differs, or is outside of a function.
HostText host_text(const std::string& kernel_text);

}  // namespace cairn::emulated_cuda
