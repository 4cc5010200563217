#include "selection/cost/roofline.hpp"

#include "device/context_impl.hpp"
#include "graph/types/unit_table.hpp"
#include "selection/cost/timing_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::selection {
namespace {

// Penalty on the memory time of a kernel with ISA variants, for each vector width below the one in use.
constexpr double isa_level_penalty = 1.02;

int halvings_below_512_bits(FeatureSet features) {
    return features.has(Feature::avx512) ? 0 : features.has(Feature::avx2) ? 1 : 2;
}

double& rate_of(Calibration& machine, Unit unit) { return machine.unit_flops[index_of(unit)]; }

/// Nominal ratio of a unit's rate to that of f32 with these features.
double nominal_ratio(Unit unit, FeatureSet features) {
    return row_of(unit).per_cycle / row_of(*unit_of(Arithmetic::f32, features)).per_cycle;
}

double bytes_touched(const TensorDesc& tensor) {
    double elements = 1;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        if (i >= tensor.strides.size() || !(tensor.strides[i] == Dim(0)))
            elements *= static_cast<double>(tensor.shape[i].constant());
    return elements * static_cast<double>(size_of(tensor.dtype));
}

/// Each operand is read or written once; one operation for each element and step.
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

/// False if an amount or the number of steps is negative, infinite or not a number, or the efficiency is outside (0,
/// 1].
bool is_usable(const Cost& cost) {
    const auto is_amount = [](double amount) { return amount >= 0 && std::isfinite(amount); };
    return is_amount(cost.flops) && is_amount(cost.bytes) && is_amount(cost.steps) && cost.efficiency > 0 &&
           cost.efficiency <= 1;
}

/// Peak rate of code with these needs; if not all of them are in use, of the features that are, if those have a unit.
double peak_of(Arithmetic arithmetic, FeatureSet needs, const Limits& limits) {
    std::optional<Unit> unit = unit_of(arithmetic, needs & limits.features);
    if (!unit) unit = unit_of(arithmetic, needs);
    if (!unit) return limits.machine.flops;
    const double measured = limits.machine.unit_flops[index_of(*unit)];
    return measured > 0 ? measured : limits.machine.flops * nominal_ratio(*unit, limits.features);
}

double peak_of(Arithmetic arithmetic, const DeviceRates& device) {
    const double rate = device.arithmetic_flops[static_cast<std::size_t>(arithmetic)];
    return rate > 0 ? rate : device.flops;
}

/// The part of the cost's bytes that always comes from memory: weights.
double bound_bytes(const Problem& problem, const Cost& cost) {
    double bytes = 0;
    for (const TensorDesc& tensor : problem.inputs)
        if (tensor.bound) bytes += bytes_touched(tensor);
    return std::min(bytes, cost.bytes);
}

/// Weights come from memory, other bytes from the cache if its bandwidth is known.
double memory_seconds(const Problem& problem, const Cost& cost, double bandwidth, double cache_bandwidth) {
    const double streamed = cache_bandwidth > 0 ? bound_bytes(problem, cost) : cost.bytes;
    const double seconds = streamed / bandwidth;
    return streamed < cost.bytes ? seconds + (cost.bytes - streamed) / cache_bandwidth : seconds;
}

}  // namespace

double cross_core_transfer_seconds(const Problem& problem, const Calibration& machine, int threads) {
    constexpr double cache_bytes_per_core = 1 << 20;  // cache capacity of one core; bytes beyond it come from memory
    double bytes = 0;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *tensors)
            if (!tensor.bound) bytes += bytes_touched(tensor);
    const double remote_bytes = std::min(bytes, cache_bytes_per_core * threads) * (threads - 1) / threads;
    return machine.cross_core_transfer_seconds + remote_bytes * machine.cross_core_transfer_byte_seconds;
}

Calibration nominal_machine(FeatureSet features, int threads) {
    Calibration machine;
    machine.flops = 3e9 * row_of(*unit_of(Arithmetic::f32, features)).per_cycle * threads;
    machine.bandwidth = 20e9 * std::min(2.0, 1 + 0.25 * (threads - 1));
    machine.barrier_seconds = threads == 1 ? 0 : 2e-7 * threads;
    machine.timer_seconds = 5e-8;
    machine.cross_core_transfer_seconds = threads == 1 ? 0 : 1e-6;
    machine.cross_core_transfer_byte_seconds = threads == 1 ? 0 : 3e-11;
    return machine;
}

Calibration with_features(Calibration machine, FeatureSet from, FeatureSet to) {
    for (const UnitInfo& row : unit_table)
        if (double& rate = rate_of(machine, row.unit); rate == 0 && to.includes(row.needs))
            rate = machine.flops * nominal_ratio(row.unit, from);
    machine.flops = rate_of(machine, *unit_of(Arithmetic::f32, to));
    return machine;
}

Calibration slowed(Calibration machine, double factor) {
    for (double* rate : {&machine.flops, &machine.bandwidth, &machine.cache_bandwidth}) *rate /= factor;
    for (double& rate : machine.unit_flops) rate /= factor;
    machine.barrier_seconds *= factor;
    machine.cross_core_transfer_seconds *= factor;
    machine.cross_core_transfer_byte_seconds *= factor;
    return machine;
}

Cost validated_cost(const Kernel& kernel, const Problem& sized, std::string& note) {
    const Cost cost = kernel.cost != nullptr ? kernel.cost(sized) : default_cost(sized);
    const bool has_unit = kernel.device != Device::cpu || unit_of(cost.arithmetic, kernel.needs);
    if (is_usable(cost) && has_unit) return cost;
    if (!has_unit)
        note = fmt::format("default cost: its cost counts {}, for which its required features have no unit ({})",
                           to_string(cost.arithmetic), to_string(kernel.needs));
    else
        note = fmt::format("default cost: its cost is invalid ({} operations, {} bytes, efficiency {}{})", cost.flops,
                           cost.bytes, cost.efficiency,
                           cost.steps == 0 ? std::string() : fmt::format(", {} steps", cost.steps));
    return default_cost(sized);
}

Roofline roofline_of(const Kernel& kernel, FeatureSet needs, const Problem& problem, const Cost& cost,
                     const Limits& limits) {
    constexpr double call_seconds = 3e-8;
    const auto device = std::find_if(limits.devices.begin(), limits.devices.end(),
                                     [&](const DeviceRates& rates) { return rates.device == kernel.device; });
    if (device != limits.devices.end()) {
        // A copy reads on one side and writes on the other: half of its bytes cross the link.
        const bool is_link = kernel.definition == "copy_to";
        const double arithmetic = cost.flops / peak_of(cost.arithmetic, *device);
        const double memory = is_link ? cost.bytes / (2 * device->link_bandwidth)
                                      : memory_seconds(problem, cost, device->bandwidth, device->cache_bandwidth);
        return {arithmetic, memory, std::max(arithmetic / cost.efficiency, memory) + cost.steps * device->step_seconds,
                is_link ? device->link_seconds : device->launch_seconds};
    }
    const Calibration& machine = limits.machine;
    const double arithmetic = cost.flops / peak_of(cost.arithmetic, needs, limits);
    double memory = memory_seconds(problem, cost, machine.bandwidth, machine.cache_bandwidth);
    if (family_of(kernel) != kernel.id)
        memory *= std::pow(isa_level_penalty,
                           std::max(halvings_below_512_bits(needs) - halvings_below_512_bits(limits.features), 0));
    return {arithmetic, memory, std::max(arithmetic / cost.efficiency, memory), call_seconds + machine.barrier_seconds};
}

}  // namespace cairn::selection
