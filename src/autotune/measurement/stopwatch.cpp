#include "autotune/measurement/stopwatch.hpp"

#include "autotune/measurement/kernel_call_errors.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <optional>

namespace cairn::autotune {

CompiledCall call_of(const Kernel& kernel, const Problem& problem, const device::CompiledKernel* compiled) {
    CompiledCall call;
    if (compiled != nullptr) {
        if (compiled->fault) with_kernel_errors(kernel, [&] { std::rethrow_exception(compiled->fault); });
        call.code = compiled->code;
        for (std::size_t axis = 0; axis < compiled->grid.size(); ++axis)
            call.grid[axis] = static_cast<unsigned>(compiled->grid[axis].constant());
    } else if (device::is_host_copy(kernel)) {
        call.copy_bytes = static_cast<std::size_t>(element_count(problem.inputs[0].shape).constant()) *
                          size_of(problem.inputs[0].dtype);
    }
    return call;
}

CompiledCall compiled_call(const Kernel& kernel, const Problem& problem, device::Backend& backend) {
    if (!kernel.code) return call_of(kernel, problem, nullptr);
    const device::KernelToCompile only{&kernel, &problem};
    return call_of(kernel, problem, device::compile_kernels({&only, 1}, backend).data());
}

double Stopwatch::time(std::int64_t calls) {
    device::TimedCalls timed{kernel_.run, calls, [this] { return std::make_unique<RotatingArgs>(operands_); },
                             operands_.inputs(), operands_.outputs()};
    timed.code = call_.code.get();
    timed.grid = call_.grid;
    timed.copy_bytes = call_.copy_bytes;
    if (kernel_.enqueue) timed.enqueued = &kernel_;
    std::optional<device::Failure> failure;
    double seconds = 0;
    with_kernel_errors(kernel_, [&] { seconds = backend_.time(timed, failure); });
    operands_.advance(calls);
    if (failure) throw Error(ErrorKind::argument, "measure", fmt::format("{}: {}", kernel_.id, failure->reason));
    return seconds;
}

}  // namespace cairn::autotune
