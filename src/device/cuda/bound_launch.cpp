#include "device/cuda/bound_launch.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

namespace cairn::device::cuda {
namespace {

const void* pointer_to(DeviceAddress address) noexcept { return reinterpret_cast<const void*>(address); }
DeviceAddress address_of(const void* pointer) noexcept { return reinterpret_cast<DeviceAddress>(pointer); }

}  // namespace

BoundLaunch::BoundLaunch(const ProgramArguments& program, int operands, int instruction) : instruction_(instruction) {
    const auto count = static_cast<std::size_t>(operands);
    values_.resize(count + 3);
    values_[count + 1] = pointer_to(program.symbols());
    values_[count + 2] = pointer_to(program.status());
}

void BoundLaunch::set(std::size_t i, const void* address, const CudaDevice& device) {
    // An address that was right before is not searched again: that would take longer than the launch.
    if (values_[i] == address) return;
    if (address != nullptr && !device.addresses().contains(address))
        throw InternalError("cuda", fmt::format("operand {} is not in the memory of the device", i));
    values_[i] = address;
}

void BoundLaunch::submit(const KernelLaunch& launch, CudaDevice& device) {
    if (launch.code == nullptr) return copy(launch, device);
    const auto& kernel = *static_cast<const CudaKernel*>(launch.code);
    if (kernel.device != &device) throw InternalError("cuda", "the kernel was compiled for another device");
    const auto inputs = static_cast<std::size_t>(launch.inputs), outputs = static_cast<std::size_t>(launch.outputs);
    for (std::size_t i = 0; i < inputs; ++i) set(i, launch.args.inputs[i].data, device);
    for (std::size_t i = 0; i < outputs; ++i) set(inputs + i, launch.args.outputs[i].data, device);
    set(inputs + outputs, launch.args.workspace, device);
    const auto [x, y, z] = launch.grid;
    if (x == 0 || y == 0 || z == 0) return;

    parameters_.clear();
    for (const void*& value : values_) parameters_.push_back(&value);
    parameters_.push_back(&instruction_);
    LaunchAttribute cluster = {};
    cluster.id = LaunchAttributeId::cluster_dimension;
    cluster.value.cluster_dimension = {kernel.cluster, 1, 1};
    const LaunchConfig config = {
        x, y, z, kernel.block, 1, 1, kernel.shared_bytes, device.stream(), &cluster, kernel.cluster > 1 ? 1U : 0U};
    device.calls().call(&DriverTable::launch, &config, kernel.function, parameters_.data(),
                        static_cast<void**>(nullptr));
}

void BoundLaunch::copy(const KernelLaunch& launch, CudaDevice& device) const {
    if (launch.copy_bytes == 0) {
        if (launch.bytes == 0) return;
        throw InternalError("cuda", "a launch has neither code nor bytes to copy");
    }
    if (launch.inputs != 1 || launch.outputs != 1) throw InternalError("cuda", "a copy has one input and one output");
    std::byte* const source = launch.args.inputs[0].data;
    std::byte* const target = launch.args.outputs[0].data;
    const bool from_device = device.addresses().contains(source, launch.copy_bytes);
    const bool to_device = device.addresses().contains(target, launch.copy_bytes);
    DriverCalls& calls = device.calls();
    if (from_device && to_device)
        calls.call(&DriverTable::copy_on_device, address_of(target), address_of(source), launch.copy_bytes,
                   device.stream());
    else if (from_device)
        calls.call(&DriverTable::copy_to_host, static_cast<void*>(target), address_of(source), launch.copy_bytes,
                   device.stream());
    else if (to_device)
        calls.call(&DriverTable::copy_to_device, address_of(target), static_cast<const void*>(source),
                   launch.copy_bytes, device.stream());
    else
        throw InternalError("cuda", "neither operand of a copy is in the memory of the device");
}

}  // namespace cairn::device::cuda
