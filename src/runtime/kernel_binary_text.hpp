#pragma once

#include "device/kernel_binary.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Declares the text form of machine code, in saved programs and in the kernel cache.
namespace cairn::runtime {

/// Text that ends with a digest of itself:
///
///     # code sm_90a
///     device NVIDIA H100 80GB HBM3
///     compiler NVRTC 13.0
///     key 1f0e3dad99908345f7439f8ffabdffc4
///     image
///     f0VMRgIBQQgAAAAAAAAAAAIAvgCCAAAAAAAAAAAAAAAAAAAAAAAAAACbAAAAAAAA...
///     # digest 9bf31c7ff062936a96d3c8bd1f8f2ff3
std::string to_string(const device::KernelBinary& binary);

/// The binaries of such texts, one after another.
struct ParsedBinaries {
    std::vector<std::shared_ptr<const device::KernelBinary>> binaries;
    bool is_damaged = false;  ///< parts of the text are none
};
/// Parses what is intact; never throws, except for lack of memory.
ParsedBinaries parse_kernel_binaries(std::string_view text);

}  // namespace cairn::runtime
