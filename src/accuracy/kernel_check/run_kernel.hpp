#pragma once

#include "cairn/kernel.hpp"
#include "device/backend.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cairn::kernel_check {

/// One run of a kernel, with its operands in memory.
struct KernelCall {
    const Kernel& kernel;
    const Problem& problem;               ///< that it is prepared for: with symbols, as in a compile
    std::span<const std::int64_t> sizes;  ///< of the symbols
    std::span<const TensorArg> inputs, outputs;
    int threads = 1;          ///< number of threads that it is prepared for
    std::uint8_t poison = 0;  ///< initial byte of its workspace
    /// Number of heap calls of the calling thread so far; null: not checked.
    std::int64_t (*heap_calls)() noexcept = nullptr;
};

/// Runs it with all threads of the backend. Describes violations of the kernel contract; empty if there are none.
std::string run_kernel(const KernelCall& call, device::Backend& backend);

}  // namespace cairn::kernel_check
