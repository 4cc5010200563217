#include "select/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::select {
namespace {

// Estimates may be wrong by this factor either way, in a typical case.
constexpr double uncertainty = 4;

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

}  // namespace

Calibration nominal_machine(Isa isa, int threads) {
    Calibration machine;
    machine.flops = 3e9 * flops_per_cycle(isa) * threads;
    machine.bandwidth = 20e9 * std::min(2.0, 1 + 0.25 * (threads - 1));
    machine.barrier_seconds = threads == 1 ? 0 : 2e-7 * threads;
    machine.timer_seconds = 5e-8;
    return machine;
}

std::vector<std::int64_t> representative_sizes(const Symbols& symbols) {
    std::vector<std::int64_t> sizes;
    for (const Symbols::Symbol& symbol : symbols.list()) {
        const double low = static_cast<double>(std::max<std::int64_t>(symbol.low, 1));
        const double middle = std::sqrt(low * static_cast<double>(std::max<std::int64_t>(symbol.high, 1)));
        sizes.push_back(
            std::clamp(std::llround(middle), static_cast<long long>(symbol.low), static_cast<long long>(symbol.high)));
    }
    return sizes;
}

Estimate estimate(const Kernel& kernel, const Problem& sized, const CostSource& source) {
    Estimate result;
    Cost cost = kernel.cost != nullptr ? kernel.cost(sized) : default_cost(sized);
    if (!is_usable(cost)) {
        result.note = fmt::format("by its operands: its cost is no cost ({} operations, {} bytes, efficiency {})",
                                  cost.flops, cost.bytes, cost.efficiency);
        cost = default_cost(sized);
    }
    const Calibration& machine = source.machine;
    const double overhead = 3e-8 + machine.barrier_seconds;
    // A kernel for a lower level of instructions has the peak of that level.
    const double peak = machine.flops * std::min(1.0, flops_per_cycle(kernel.isa) / flops_per_cycle(source.isa));
    const double work = std::max(cost.flops / (peak * cost.efficiency), cost.bytes / machine.bandwidth);
    result.low = std::max(cost.flops / peak, work / uncertainty) + overhead;
    result.seconds = work + overhead;
    result.high = uncertainty * result.seconds;
    if (source.optimistic) result.seconds = result.low;
    if (source.timings == nullptr) return result;
    const auto timing = source.timings->find(sized, kernel.id, source.environment, source.policy);
    if (!timing) return result;
    if (timing->status == TimingStatus::ok) return {timing->median, timing->median, timing->median, true};
    const double bound = timing->status == TimingStatus::censored ? timing->bound : 1 + 10 * result.high;
    return {bound, bound, bound, true};
}

}  // namespace cairn::inline v0::select
