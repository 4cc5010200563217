#include "select/roofline.hpp"

#include "device/context_parts.hpp"
#include "select/siblings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::select {
namespace {

// What a kernel that has twins and that memory bounds takes more at each level below the one in use.
constexpr double lower_level = 1.02;

double flops_per_cycle(Isa isa) { return isa == Isa::baseline ? 8 : isa == Isa::avx2 ? 32 : 64; }

double bytes_touched(const TensorDesc& tensor) {
    double elements = 1;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        if (i >= tensor.strides.size() || !(tensor.strides[i] == Dim(0)))
            elements *= static_cast<double>(tensor.shape[i].constant());
    return elements * static_cast<double>(size_of(tensor.dtype));
}

/// Each operand read or written once, one operation an output element and step.
Cost default_cost(const Problem& problem) {
    Cost cost;
    double elements = 0;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *tensors) cost.bytes += bytes_touched(tensor);
    for (const TensorDesc& tensor : problem.inputs)
        elements = std::max(elements, static_cast<double>(element_count(tensor.shape).constant()));
    for (const TensorDesc& tensor : problem.outputs)
        elements = std::max(elements, static_cast<double>(element_count(tensor.shape).constant()));
    cost.flops = elements * static_cast<double>(std::max<std::size_t>(problem.body.size(), 1));
    return cost;
}

/// Negative, endless and what is no number cannot be counted with.
bool is_usable(const Cost& cost) {
    const auto is_amount = [](double amount) { return amount >= 0 && std::isfinite(amount); };
    return is_amount(cost.flops) && is_amount(cost.bytes) && cost.efficiency > 0 && cost.efficiency <= 1;
}

/// Of an Isa level below the one in use; a higher one has no more than that.
double peak_of(Isa level, const Limits& limits) {
    const double measured = limits.machine.level_flops[static_cast<std::size_t>(std::min(level, limits.isa))];
    if (measured > 0) return measured;
    return limits.machine.flops * std::min(1.0, flops_per_cycle(level) / flops_per_cycle(limits.isa));
}

/// Bytes of `cost` that come from memory in any case: those of weights.
double bound_bytes(const Problem& problem, const Cost& cost) {
    double bytes = 0;
    for (const TensorDesc& tensor : problem.inputs)
        if (tensor.bound) bytes += bytes_touched(tensor);
    return std::min(bytes, cost.bytes);
}

}  // namespace

Calibration nominal_machine(Isa isa, int threads) {
    Calibration machine;
    machine.flops = 3e9 * flops_per_cycle(isa) * threads;
    machine.bandwidth = 20e9 * std::min(2.0, 1 + 0.25 * (threads - 1));
    machine.barrier_seconds = threads == 1 ? 0 : 2e-7 * threads;
    machine.timer_seconds = 5e-8;
    machine.handover_seconds = threads == 1 ? 0 : 1e-6;
    return machine;
}

Calibration at_level(Calibration machine, Isa from, Isa to) {
    for (int level = static_cast<int>(from) + 1; level <= static_cast<int>(to); ++level)
        if (double& flops = machine.level_flops[static_cast<std::size_t>(level)]; flops == 0)
            flops = machine.flops * flops_per_cycle(static_cast<Isa>(level)) / flops_per_cycle(from);
    if (const double flops = machine.level_flops[static_cast<std::size_t>(to)]; flops > 0) machine.flops = flops;
    return machine;
}

Calibration slowed(Calibration machine, double factor) {
    for (double* rate : {&machine.flops, &machine.bandwidth, &machine.cache_bandwidth}) *rate /= factor;
    for (double& rate : machine.level_flops) rate /= factor;
    machine.barrier_seconds *= factor;
    machine.handover_seconds *= factor;
    return machine;
}

Cost counted_cost(const Kernel& kernel, const Problem& sized, std::string& note) {
    const Cost cost = kernel.cost != nullptr ? kernel.cost(sized) : default_cost(sized);
    if (is_usable(cost)) return cost;
    note = fmt::format("by its operands: its cost is no cost ({} operations, {} bytes, efficiency {})", cost.flops,
                       cost.bytes, cost.efficiency);
    return default_cost(sized);
}

Roofline roofline_of(const Kernel& kernel, Isa level, const Problem& problem, const Cost& cost, const Limits& limits) {
    constexpr double call_seconds = 3e-8;
    const auto device = std::find_if(limits.devices.begin(), limits.devices.end(),
                                     [&](const DeviceRates& rates) { return rates.device == kernel.device; });
    if (device != limits.devices.end()) {
        // A copy reads on one side what it writes on the other: half of its bytes go over the link.
        const bool is_link = kernel.definition == "copy_to";
        const double arithmetic = cost.flops / device->flops;
        const double memory = cost.bytes / (is_link ? 2 * device->link_bandwidth : device->bandwidth);
        return {arithmetic, std::max(arithmetic / cost.efficiency, memory),
                is_link ? device->link_seconds : device->launch_seconds};
    }
    const Calibration& machine = limits.machine;
    const double arithmetic = cost.flops / peak_of(level, limits);
    const double streamed = machine.cache_bandwidth > 0 ? bound_bytes(problem, cost) : cost.bytes;
    double memory = streamed / machine.bandwidth;
    if (streamed < cost.bytes) memory += (cost.bytes - streamed) / machine.cache_bandwidth;
    if (family_of(kernel) != kernel.id)
        memory *= std::pow(lower_level, std::max(static_cast<int>(limits.isa) - static_cast<int>(level), 0));
    return {arithmetic, std::max(arithmetic / cost.efficiency, memory), call_seconds + machine.barrier_seconds};
}

}  // namespace cairn::inline v0::select
