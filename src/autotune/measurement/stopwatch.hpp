#pragma once

#include "autotune/measurement/operands.hpp"
#include "device/backend.hpp"

#include <cstdint>

namespace cairn::autotune {

/// Times calls of one kernel as a program would make them, one after another. The references must outlive it.
class Stopwatch {
public:
    Stopwatch(const Kernel& kernel, const Operands& operands, device::Backend& backend)
        : kernel_(kernel), operands_(operands), backend_(backend) {}

    /// Seconds of `calls` calls. Exceptions of the kernel become an Error that names it.
    double time(std::int64_t calls);

private:
    const Kernel& kernel_;
    const Operands& operands_;
    device::Backend& backend_;
};

}  // namespace cairn::autotune
