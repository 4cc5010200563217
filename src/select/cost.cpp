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

struct Roofline {
    double flops, bandwidth, overhead;
};

/// What bounds a kernel on its device.
Roofline roofline_of(const Kernel& kernel, const CostSource& source) {
    constexpr double call_seconds = 3e-8;
    const auto device = std::find_if(source.devices.begin(), source.devices.end(),
                                     [&](const DeviceRates& rates) { return rates.device == kernel.device; });
    if (device != source.devices.end()) {
        // A copy reads on one side what it writes on the other: half of its bytes go over the link.
        const bool is_link = kernel.definition == "copy_to";
        return {device->flops, is_link ? 2 * device->link_bandwidth : device->bandwidth,
                is_link ? device->link_seconds : device->launch_seconds};
    }
    // A kernel for a lower level of instructions has the peak of that level.
    const double share = std::min(1.0, flops_per_cycle(kernel.isa) / flops_per_cycle(source.isa));
    return {source.machine.flops * share, source.machine.bandwidth, call_seconds + source.machine.barrier_seconds};
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

std::vector<std::vector<std::int64_t>> representative_sizes(const Symbols& symbols) {
    const std::vector<Symbols::Symbol> list = symbols.list();
    const auto least = [](const Symbols::Symbol& symbol) { return std::max<std::int64_t>(symbol.low, 1); };
    const bool narrow = std::all_of(list.begin(), list.end(),
                                    [&](const Symbols::Symbol& symbol) { return symbol.high / 2 <= least(symbol); });
    std::vector<std::vector<std::int64_t>> all;
    for (const int sixths : {1, 3, 5}) {
        if (narrow && sixths != 3) continue;
        std::vector<std::int64_t>& sizes = all.emplace_back();
        for (const Symbols::Symbol& symbol : list) {
            const auto low = static_cast<double>(least(symbol));
            const double ratio = static_cast<double>(std::max<std::int64_t>(symbol.high, 1)) / low;
            sizes.push_back(
                std::clamp<std::int64_t>(std::llround(low * std::pow(ratio, sixths / 6.0)), symbol.low, symbol.high));
        }
    }
    return all;
}

const std::string& SizedProblem::text() const {
    if (text_.empty()) text_ = to_string(problem_);
    return text_;
}

std::vector<SizedProblem> at_each(const Problem& problem, std::span<const std::vector<std::int64_t>> sizes) {
    std::vector<SizedProblem> all;
    for (const std::vector<std::int64_t>& values : sizes)
        if (Problem sized = at_sizes(problem, values); all.empty() || !(sized == *all.back()))
            all.emplace_back(std::move(sized));
    return all;
}

Estimate estimate(const Kernel& kernel, const SizedProblem& problem, const CostSource& source) {
    const Problem& sized = *problem;
    Estimate result;
    Cost cost = kernel.cost != nullptr ? kernel.cost(sized) : default_cost(sized);
    if (!is_usable(cost)) {
        result.note = fmt::format("by its operands: its cost is no cost ({} operations, {} bytes, efficiency {})",
                                  cost.flops, cost.bytes, cost.efficiency);
        cost = default_cost(sized);
    }
    const auto [peak, bandwidth, overhead] = roofline_of(kernel, source);
    const double work = std::max(cost.flops / (peak * cost.efficiency), cost.bytes / bandwidth);
    result.low = std::max(cost.flops / peak, work / uncertainty) + overhead;
    result.seconds = work + overhead;
    result.high = uncertainty * result.seconds;
    if (source.optimistic) result.seconds = result.low;
    if (source.timings == nullptr) return result;
    const auto timing = source.timings->find(problem.text(), kernel.id, source.environment, source.policy);
    if (!timing) return result;
    if (timing->status == TimingStatus::ok) return {timing->median, timing->median, timing->median, true, 0, false, {}};
    const double bound = timing->status == TimingStatus::censored ? timing->bound : 1 + 10 * result.high;
    return {bound, bound, bound, true, 0, false, {}};
}

Estimate mean_estimate(const Kernel& kernel, std::span<const SizedProblem> sized, const CostSource& source) {
    Estimate mean;
    mean.measured = true;
    const auto count = static_cast<double>(sized.size());
    for (const SizedProblem& problem : sized) {
        Estimate one = estimate(kernel, problem, source);
        mean.seconds += one.seconds / count;
        mean.low += one.low / count;
        mean.high += one.high / count;
        mean.measured = mean.measured && one.measured;
        if (mean.note.empty()) mean.note = std::move(one.note);
    }
    return mean;
}

}  // namespace cairn::inline v0::select
