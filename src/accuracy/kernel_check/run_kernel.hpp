#pragma once

#include "cairn/kernel.hpp"
#include "device/cpu/thread_pool.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cairn::kernel_check {

/// A kernel that is to run once, on operands that lie ready.
struct KernelCall {
    const Kernel& kernel;
    const Problem& problem;               ///< as it is prepared for: with its symbols, as in a compile
    std::span<const std::int64_t> sizes;  ///< of the symbols
    std::span<const TensorArg> inputs, outputs;
    int threads = 1;          ///< that it is prepared for
    std::uint8_t poison = 0;  ///< that its workspace begins with
    /// Heap calls of the calling thread so far; null: not watched.
    std::int64_t (*heap_calls)() noexcept = nullptr;
};

/// Runs it with all members of the pool. What it did that it may not, in words; empty: nothing.
std::string run_kernel(const KernelCall& call, device::ThreadPool& pool);

}  // namespace cairn::kernel_check
