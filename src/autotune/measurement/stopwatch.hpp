#pragma once

#include "autotune/measurement/operands.hpp"
#include "device/backend.hpp"
#include "device/compiled_kernel.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cairn::autotune {

/// How a device that compiles its kernels is given a call (device::KernelLaunch).
struct CompiledCall {
    std::shared_ptr<const void> code;
    std::array<unsigned, 3> grid{1, 1, 1};
    std::size_t copy_bytes = 0;
};
/// The call of a kernel for a Problem of constant sizes. `compiled` is its code; null if it has none. Throws the fault
/// of code that could not be compiled, as an Error that names the kernel.
CompiledCall call_of(const Kernel& kernel, const Problem& problem, const device::CompiledKernel* compiled);
/// The same; compiles the code first.
CompiledCall compiled_call(const Kernel& kernel, const Problem& problem, device::Backend& backend);

/// Times calls of one kernel as a program would make them, one after another. The references must outlive it.
class Stopwatch {
public:
    Stopwatch(const Kernel& kernel, const Operands& operands, device::Backend& backend, CompiledCall call = {})
        : kernel_(kernel), operands_(operands), backend_(backend), call_(std::move(call)) {}

    /// Seconds of `calls` calls. Exceptions of the kernel become an Error that names it.
    double time(std::int64_t calls);

private:
    const Kernel& kernel_;
    const Operands& operands_;
    device::Backend& backend_;
    CompiledCall call_;
};

}  // namespace cairn::autotune
