#pragma once

#include <filesystem>
#include <string>

namespace cairn::device::cuda {

/// Release of the NVIDIA driver that the system has loaded, as its kernel module reports it: `580.82.07`; empty if the
/// file is missing or has another form. The driver's own version tells no more than the CUDA version that it supports.
std::string driver_release(const std::filesystem::path& file = "/proc/driver/nvidia/version");

}  // namespace cairn::device::cuda
