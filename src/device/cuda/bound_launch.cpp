#include "device/cuda/bound_launch.hpp"

#include "cairn/error.hpp"
#include "cairn/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::device::cuda {
namespace {

const void* pointer_to(DeviceAddress address) noexcept { return reinterpret_cast<const void*>(address); }

bool has_elements(const TensorArg& operand) noexcept {
    return std::find(operand.shape, operand.shape + operand.rank, 0) == operand.shape + operand.rank;
}

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

void BoundLaunch::set_operand(std::size_t i, const TensorArg& operand, CudaDevice& device) {
    if (arguments_.addresses[i] == operand.data) return;
    // A part of a tensor without elements may begin outside of all memory. Where it does not, a kernel may read what is
    // repeated along the axis of size 0.
    const bool is_nowhere = !has_elements(operand) && operand.data != nullptr && !device.holds(operand.data);
    set_address(i, is_nowhere ? nullptr : operand.data, device);
}

void BoundLaunch::bind(const KernelLaunch& launch, CudaDevice& device) {
    kernel_ = static_cast<const CudaKernel*>(launch.code);
    function_ = launch.enqueued;
    if (kernel_ == nullptr && function_ == nullptr) return bind_copy(launch, device);
    if (kernel_ != nullptr && kernel_->device != &device)
        throw InternalError("cuda", "the kernel was compiled for another device");
    const auto inputs = static_cast<std::size_t>(launch.inputs), outputs = static_cast<std::size_t>(launch.outputs);
    for (std::size_t i = 0; i < inputs; ++i) set_operand(i, launch.args.inputs[i], device);
    for (std::size_t i = 0; i < outputs; ++i) set_operand(inputs + i, launch.args.outputs[i], device);
    set_address(inputs + outputs, launch.args.workspace, device);
    if (function_ != nullptr) return bind_function(launch);
    arguments_.grid = launch.grid;
}

void BoundLaunch::bind_function(const KernelLaunch& launch) {
    function_args_ = launch.args;
    arguments_.sizes.clear();
    const auto add = [&](const std::int64_t* sizes, int count) {
        arguments_.sizes.insert(arguments_.sizes.end(), sizes, sizes + count);
    };
    const auto add_operand = [&](const TensorArg& operand) {
        add(operand.shape, operand.rank);
        add(operand.strides, operand.rank);
    };
    std::for_each_n(launch.args.inputs, launch.inputs, add_operand);
    std::for_each_n(launch.args.outputs, launch.outputs, add_operand);
    add(launch.args.dims, launch.dims);
    has_elements_ = std::any_of(launch.args.outputs, launch.args.outputs + launch.outputs, has_elements);
}

void BoundLaunch::bind_copy(const KernelLaunch& launch, CudaDevice& device) {
    if (launch.copy_bytes == 0 && launch.bytes != 0)
        throw InternalError("cuda", "a launch has neither code nor bytes to copy");
    if (launch.inputs != 1 || launch.outputs != 1) throw InternalError("cuda", "a copy has one input and one output");
    arguments_.copy.bind(launch.args.outputs[0].data, launch.args.inputs[0].data, launch.copy_bytes, device);
}

bool BoundLaunch::has_work() const noexcept {
    if (function_ != nullptr) return has_elements_;
    if (kernel_ == nullptr) return arguments_.copy.bytes() > 0;
    return arguments_.grid[0] > 0 && arguments_.grid[1] > 0 && arguments_.grid[2] > 0;
}

bool BoundLaunch::stays_on_device(const CudaDevice& device) const noexcept {
    if (kernel_ != nullptr || function_ != nullptr) return true;
    const LinearCopy& copy = arguments_.copy;
    return device.addresses().contains(copy.source(), copy.bytes()) &&
           device.addresses().contains(copy.target(), copy.bytes());
}

void** BoundLaunch::parameters() {
    parameters_.clear();
    for (const void*& address : arguments_.addresses) parameters_.push_back(&address);
    parameters_.push_back(&instruction_);
    return parameters_.data();
}

void BoundLaunch::submit(CudaDevice& device, StreamHandle stream) {
    if (!has_work()) return;
    if (function_ != nullptr) return function_->enqueue(function_args_, {device.device(), stream});
    if (kernel_ == nullptr) return arguments_.copy.submit(device, stream);
    submit_kernel(device, stream, arguments_.grid);
}

void BoundLaunch::submit_kernel(CudaDevice& device, StreamHandle stream, const std::array<unsigned, 3>& grid,
                                bool is_dependent) {
    std::array<LaunchAttribute, 2> attributes = {};
    unsigned attribute_count = 0;
    if (kernel_->cluster > 1) {
        LaunchAttribute& cluster = attributes[attribute_count++];
        cluster.id = LaunchAttributeId::cluster_dimension;
        cluster.value.cluster_dimension = {kernel_->cluster, 1, 1};
    }
    if (is_dependent) {
        LaunchAttribute& dependent = attributes[attribute_count++];
        dependent.id = LaunchAttributeId::programmatic_stream_serialization;
        dependent.value.programmatic_stream_serialization = 1;
    }
    const LaunchConfig config = {
        grid[0], grid[1],           grid[2],        kernel_->block, 1, 1, kernel_->shared_bytes,
        stream,  attributes.data(), attribute_count};
    device.calls().call(&DriverTable::launch, &config, kernel_->function, parameters(), static_cast<void**>(nullptr));
}

void BoundLaunch::capture(CudaDevice& device, StreamHandle stream, const BoundLaunch* previous) {
    if (kernel_ != nullptr) {
        // Both always have blocks: a node that is disabled would not carry the dependency on to the next one.
        const bool is_dependent = kernel_->is_dependent && previous != nullptr && previous->kernel_ != nullptr &&
                                  previous->kernel_->is_dependent;
        const std::array<unsigned, 3> least{kernel_->cluster, 1, 1};
        return submit_kernel(device, stream, has_work() ? arguments_.grid : least, is_dependent);
    }
    if (function_ != nullptr) return capture_function(device, stream);
    if (has_work()) return submit(device, stream);
    const std::byte* const source = device.addresses().find(arguments_.copy.source());
    const std::byte* const target = device.addresses().find(arguments_.copy.target());
    device.calls().call(&DriverTable::copy_on_device, address_of(target), address_of(source), std::size_t{1}, stream);
}

void BoundLaunch::capture_function(CudaDevice& device, StreamHandle stream) {
    if (!has_work()) return;
    submit(device, stream);
    CaptureStatus status = CaptureStatus::none;
    device.calls().call(&DriverTable::capture_status, stream, &status);
    if (status != CaptureStatus::active)
        throw Error(ErrorKind::argument, "cuda", "its function makes a call that a captured stream does not permit");
}

void BoundLaunch::set(ExecutableGraph& graph, GraphNodeHandle node) {
    if (kernel_ != nullptr) {
        const auto [x, y, z] = arguments_.grid;
        return graph.set(node, KernelNodeParameters{kernel_->function, x, y, z, kernel_->block, 1, 1,
                                                    kernel_->shared_bytes, parameters(), nullptr, nullptr, nullptr});
    }
    const LinearCopy& wanted = arguments_.copy;
    if (wanted.direction() != LinearCopy::Direction::on_device)
        throw InternalError("cuda", "an operand of a captured copy is not in the memory of the device");
    Copy3D copy = {};
    copy.source_type = copy.target_type = MemoryType::device;
    copy.source_device = address_of(wanted.source());
    copy.target_device = address_of(wanted.target());
    copy.row_bytes = wanted.bytes();
    copy.rows = copy.planes = 1;
    graph.set(node, copy);
}

}  // namespace cairn::device::cuda
