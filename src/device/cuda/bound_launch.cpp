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
    arguments_.addresses.resize(count + 3);
    arguments_.addresses[count + 1] = pointer_to(program.symbols());
    arguments_.addresses[count + 2] = pointer_to(program.status());
}

void BoundLaunch::set_address(std::size_t i, const void* address, CudaDevice& device) {
    // An address that was right before is not searched again: that would take longer than the launch.
    if (arguments_.addresses[i] == address) return;
    if (address != nullptr && !device.holds(address)) {
        device.calls().throw_if_lost();
        throw InternalError("cuda", fmt::format("operand {} is not in the memory of the device", i));
    }
    arguments_.addresses[i] = address;
}

void BoundLaunch::bind(const KernelLaunch& launch, CudaDevice& device) {
    kernel_ = static_cast<const CudaKernel*>(launch.code);
    if (kernel_ == nullptr) return bind_copy(launch, device);
    if (kernel_->device != &device) throw InternalError("cuda", "the kernel was compiled for another device");
    const auto inputs = static_cast<std::size_t>(launch.inputs), outputs = static_cast<std::size_t>(launch.outputs);
    for (std::size_t i = 0; i < inputs; ++i) set_address(i, launch.args.inputs[i].data, device);
    for (std::size_t i = 0; i < outputs; ++i) set_address(inputs + i, launch.args.outputs[i].data, device);
    set_address(inputs + outputs, launch.args.workspace, device);
    arguments_.grid = launch.grid;
}

void BoundLaunch::bind_copy(const KernelLaunch& launch, CudaDevice& device) {
    if (launch.copy_bytes == 0 && launch.bytes != 0)
        throw InternalError("cuda", "a launch has neither code nor bytes to copy");
    if (launch.inputs != 1 || launch.outputs != 1) throw InternalError("cuda", "a copy has one input and one output");
    const std::byte* const source = launch.args.inputs[0].data;
    std::byte* const target = launch.args.outputs[0].data;
    const bool is_known =
        arguments_.source == source && arguments_.target == target && launch.copy_bytes <= arguments_.copy_bytes;
    if (!is_known && launch.copy_bytes > 0) {
        const bool from_device = device.holds(source, launch.copy_bytes);
        const bool to_device = device.holds(target, launch.copy_bytes);
        device.calls().throw_if_lost();
        if (!from_device && !to_device)
            throw InternalError("cuda", "neither operand of a copy is in the memory of the device");
        direction_ = from_device && to_device ? CopyDirection::on_device
                     : from_device            ? CopyDirection::to_host
                                              : CopyDirection::to_device;
    }
    arguments_.source = source;
    arguments_.target = target;
    arguments_.copy_bytes = launch.copy_bytes;
}

bool BoundLaunch::has_work() const noexcept {
    if (kernel_ == nullptr) return arguments_.copy_bytes > 0;
    return arguments_.grid[0] > 0 && arguments_.grid[1] > 0 && arguments_.grid[2] > 0;
}

bool BoundLaunch::stays_on_device(const CudaDevice& device) const noexcept {
    return kernel_ != nullptr || (device.addresses().contains(arguments_.source, arguments_.copy_bytes) &&
                                  device.addresses().contains(arguments_.target, arguments_.copy_bytes));
}

void** BoundLaunch::parameters() {
    parameters_.clear();
    for (const void*& address : arguments_.addresses) parameters_.push_back(&address);
    parameters_.push_back(&instruction_);
    return parameters_.data();
}

void BoundLaunch::submit(CudaDevice& device, StreamHandle stream) {
    if (!has_work()) return;
    if (kernel_ == nullptr) return submit_copy(device, stream);
    submit_kernel(device, stream, arguments_.grid);
}

void BoundLaunch::submit_kernel(CudaDevice& device, StreamHandle stream, const std::array<unsigned, 3>& grid) {
    LaunchAttribute cluster = {};
    cluster.id = LaunchAttributeId::cluster_dimension;
    cluster.value.cluster_dimension = {kernel_->cluster, 1, 1};
    const LaunchConfig config = {grid[0],
                                 grid[1],
                                 grid[2],
                                 kernel_->block,
                                 1,
                                 1,
                                 kernel_->shared_bytes,
                                 stream,
                                 &cluster,
                                 kernel_->cluster > 1 ? 1U : 0U};
    device.calls().call(&DriverTable::launch, &config, kernel_->function, parameters(), static_cast<void**>(nullptr));
}

void BoundLaunch::submit_copy(CudaDevice& device, StreamHandle stream) const {
    DriverCalls& calls = device.calls();
    switch (direction_) {
        case CopyDirection::on_device:
            return calls.call(&DriverTable::copy_on_device, address_of(arguments_.target),
                              address_of(arguments_.source), arguments_.copy_bytes, stream);
        case CopyDirection::to_host:
            return calls.call(&DriverTable::copy_to_host, static_cast<void*>(arguments_.target),
                              address_of(arguments_.source), arguments_.copy_bytes, stream);
        case CopyDirection::to_device:
            return calls.call(&DriverTable::copy_to_device, address_of(arguments_.target),
                              static_cast<const void*>(arguments_.source), arguments_.copy_bytes, stream);
    }
}

void BoundLaunch::capture(CudaDevice& device, StreamHandle stream) {
    if (has_work()) return submit(device, stream);
    if (kernel_ != nullptr) return submit_kernel(device, stream, {kernel_->cluster, 1, 1});
    const std::byte* const source = device.addresses().find(arguments_.source);
    const std::byte* const target = device.addresses().find(arguments_.target);
    device.calls().call(&DriverTable::copy_on_device, address_of(target), address_of(source), std::size_t{1}, stream);
}

void BoundLaunch::set(ExecutableGraph& graph, GraphNodeHandle node) {
    if (kernel_ != nullptr) {
        const auto [x, y, z] = arguments_.grid;
        return graph.set(node, KernelNodeParameters{kernel_->function, x, y, z, kernel_->block, 1, 1,
                                                    kernel_->shared_bytes, parameters(), nullptr, nullptr, nullptr});
    }
    if (direction_ != CopyDirection::on_device)
        throw InternalError("cuda", "an operand of a captured copy is not in the memory of the device");
    Copy3D copy = {};
    copy.source_type = copy.target_type = MemoryType::device;
    copy.source_device = address_of(arguments_.source);
    copy.target_device = address_of(arguments_.target);
    copy.row_bytes = arguments_.copy_bytes;
    copy.rows = copy.planes = 1;
    graph.set(node, copy);
}

}  // namespace cairn::device::cuda
