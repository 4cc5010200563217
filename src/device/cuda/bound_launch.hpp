#pragma once

#include "device/command_buffer.hpp"
#include "device/cuda/cuda_compiler.hpp"
#include "device/cuda/executable_graph.hpp"
#include "device/cuda/linear_copy.hpp"
#include "device/cuda/program_arguments.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::device::cuda {

/// A launch as the driver takes it: a kernel with its parameters, a copy, or a function that submits work. Its storage
/// is kept between submissions. The context must be current in functions that submit.
class BoundLaunch {
public:
    /// What may change between submissions.
    struct Arguments {
        /// Parameters of a kernel: operands, workspace, symbols, status. That of an operand without elements is null if
        /// it is not in the memory of the device.
        std::vector<const void*> addresses;
        std::array<unsigned, 3> grid{0, 0, 0};
        std::vector<std::int64_t> sizes;  ///< of a function: shapes, strides and attributes
        LinearCopy copy;

        bool operator==(const Arguments&) const = default;
    };

    /// `inputs + outputs` operands; `instruction` is what the kernel reports with a failure.
    BoundLaunch(const ProgramArguments& program, int operands, int instruction);
    BoundLaunch(BoundLaunch&&) noexcept = default;

    /// Takes kernel, addresses and sizes of the launch; the driver is called for new addresses that Cairn has not
    /// allocated. Arrays in the arguments of a function must stay until the work is submitted or captured. Throws
    /// InternalError if it is neither a kernel nor a function nor a copy, or if an operand is not in the memory of the
    /// device.
    void bind(const KernelLaunch& launch, CudaDevice& device);
    const Arguments& arguments() const noexcept { return arguments_; }
    /// The kernel; null for a copy and a function.
    const CudaKernel* kernel() const noexcept { return kernel_; }
    /// The kernel whose function it is; null for a copy and a kernel with code.
    const Kernel* function() const noexcept { return function_; }
    /// False for a grid without blocks, a function whose outputs have no elements, and a copy without bytes.
    bool has_work() const noexcept;
    /// True for a kernel, a function, and a copy both of whose operands are in Cairn's memory on the device.
    bool stays_on_device(const CudaDevice& device) const noexcept;

    /// Submits the work, if there is any.
    void submit(CudaDevice& device, StreamHandle stream);
    /// Submits the work to a stream that is captured; without work, the least of its kind, or nothing for a function.
    /// It must stay on the device. `previous` is what was captured there before, null at the beginning: a kernel that
    /// waits for it itself begins before it has ended (programmatic dependent launch).
    void capture(CudaDevice& device, StreamHandle stream, const BoundLaunch* previous);
    /// Makes a node that was captured from this launch, no function, do the work, of which there must be some.
    void set(ExecutableGraph& graph, GraphNodeHandle node);

private:
    void set_address(std::size_t i, const void* address, CudaDevice& device);
    void set_operand(std::size_t i, const TensorArg& operand, CudaDevice& device);
    void bind_copy(const KernelLaunch& launch, CudaDevice& device);
    void bind_function(const KernelLaunch& launch);
    void capture_function(CudaDevice& device, StreamHandle stream);
    void** parameters();
    void submit_kernel(CudaDevice& device, StreamHandle stream, const std::array<unsigned, 3>& grid,
                       bool is_dependent = false);

    Arguments arguments_;
    const CudaKernel* kernel_ = nullptr;
    const Kernel* function_ = nullptr;
    Args function_args_ = {};
    bool has_elements_ = false;      // in an output of a function
    std::vector<void*> parameters_;  // addresses of the values and of the instruction
    int instruction_;
};

}  // namespace cairn::device::cuda
