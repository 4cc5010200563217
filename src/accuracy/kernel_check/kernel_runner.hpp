#pragma once

#include "accuracy/kernel_check/guarded_tensor.hpp"
#include "accuracy/kernel_check/operand_placement.hpp"
#include "cairn/kernel.hpp"
#include "device/backend.hpp"
#include "device/compiled_kernel.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace cairn::kernel_check {

/// One run of a kernel.
struct KernelCall {
    const Kernel& kernel;
    const Problem& problem;               ///< that it is prepared or compiled for: with symbols, as in a compile
    std::span<const std::int64_t> sizes;  ///< of the symbols
    std::span<GuardedTensor> inputs, outputs;
    std::optional<InPlace> in_place = {};              ///< an output that uses an input's memory
    const device::CompiledKernel* compiled = nullptr;  ///< of a kernel with code
    int threads = 1;                                   ///< number of threads that it is prepared for
    std::uint8_t poison = 0;                           ///< initial byte of its workspace
    /// Number of heap calls of the calling thread so far; null: not checked.
    std::int64_t (*heap_calls)() noexcept = nullptr;
};

/// What a run has shown.
struct RunOutcome {
    std::string fault;                       ///< violations of the kernel contract; empty: none
    std::optional<device::Failure> failure;  ///< what the kernel has reported
};

/// Runs kernels on one device, with all of its threads.
class KernelRunner {
public:
    /// The backend must outlive it.
    explicit KernelRunner(device::Backend& backend) : backend_(backend), placement_(backend) {}

    device::Backend& backend() const noexcept { return backend_; }
    /// Runs a kernel. Operands are in the memory of the device during the run; of a kernel for `copy_to` without a
    /// function, one side is in that of the host. Rethrows what a function throws.
    RunOutcome run(const KernelCall& call);

private:
    device::Backend& backend_;
    OperandPlacement placement_;
};

}  // namespace cairn::kernel_check
