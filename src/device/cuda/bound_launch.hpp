#pragma once

#include "device/command_buffer.hpp"
#include "device/cuda/cuda_compiler.hpp"
#include "device/cuda/program_arguments.hpp"

#include <vector>

namespace cairn::device::cuda {

/// A launch with the parameters of its kernel, which are kept between submissions.
class BoundLaunch {
public:
    /// `inputs + outputs` operands; `instruction` is what the kernel reports with a failure.
    BoundLaunch(const ProgramArguments& program, int operands, int instruction);
    BoundLaunch(BoundLaunch&&) noexcept = default;

    /// Submits the launch to the stream: a kernel, a copy, or nothing if it has no elements. The context must be
    /// current. Throws InternalError if it is neither or if an operand is not in the memory of the device.
    void submit(const KernelLaunch& launch, CudaDevice& device);

private:
    void set(std::size_t i, const void* address, const CudaDevice& device);
    void copy(const KernelLaunch& launch, CudaDevice& device) const;

    std::vector<const void*> values_;  // operands, workspace, symbols, status
    std::vector<void*> parameters_;    // addresses of the values and of the instruction
    int instruction_;
};

}  // namespace cairn::device::cuda
