#pragma once

#include "device/backend.hpp"

#include <memory>

namespace cairn::device {

/// The CPU with exactly this many threads, the caller's included. Throws what the constructor of ThreadPool does.
std::unique_ptr<CpuBackend> cpu_backend(int threads);

}  // namespace cairn::device
