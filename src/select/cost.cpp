#include "select/cost.hpp"

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

/// Of an Isa level below the context's; a higher one has no more than that.
double peak_of(Isa level, const CostSource& source) {
    const double measured = source.machine.level_flops[static_cast<std::size_t>(std::min(level, source.isa))];
    if (measured > 0) return measured;
    return source.machine.flops * std::min(1.0, flops_per_cycle(level) / flops_per_cycle(source.isa));
}

/// Bytes of `cost` that come from memory in any case: those of weights.
double bound_bytes(const Problem& problem, const Cost& cost) {
    double bytes = 0;
    for (const TensorDesc& tensor : problem.inputs)
        if (tensor.bound) bytes += bytes_touched(tensor);
    return std::min(bytes, cost.bytes);
}

/// A call in seconds: what bounds it on its device.
struct Roofline {
    double arithmetic = 0;  ///< at the peak
    double work = 0;        ///< with what the kernel reaches of that, and memory
    double overhead = 0;
};

Roofline roofline_of(const Kernel& kernel, const Problem& problem, const Cost& cost, const CostSource& source) {
    constexpr double call_seconds = 3e-8;
    const auto device = std::find_if(source.devices.begin(), source.devices.end(),
                                     [&](const DeviceRates& rates) { return rates.device == kernel.device; });
    if (device != source.devices.end()) {
        // A copy reads on one side what it writes on the other: half of its bytes go over the link.
        const bool is_link = kernel.definition == "copy_to";
        const double arithmetic = cost.flops / device->flops;
        const double memory = cost.bytes / (is_link ? 2 * device->link_bandwidth : device->bandwidth);
        return {arithmetic, std::max(arithmetic / cost.efficiency, memory),
                is_link ? device->link_seconds : device->launch_seconds};
    }
    const Calibration& machine = source.machine;
    const double arithmetic = cost.flops / peak_of(kernel.isa, source);
    const double streamed = machine.cache_bandwidth > 0 ? bound_bytes(problem, cost) : cost.bytes;
    double memory = streamed / machine.bandwidth;
    if (streamed < cost.bytes) memory += (cost.bytes - streamed) / machine.cache_bandwidth;
    if (family_of(kernel) != kernel.id)
        memory *= std::pow(lower_level, std::max(static_cast<int>(source.isa) - static_cast<int>(kernel.isa), 0));
    return {arithmetic, std::max(arithmetic / cost.efficiency, memory), call_seconds + machine.barrier_seconds};
}

/// What a kernel says of its cost, or its operands do: then `note` tells why.
Cost cost_of(const Kernel& kernel, const Problem& sized, std::string& note) {
    const Cost cost = kernel.cost != nullptr ? kernel.cost(sized) : default_cost(sized);
    if (is_usable(cost)) return cost;
    note = fmt::format("by its operands: its cost is no cost ({} operations, {} bytes, efficiency {})", cost.flops,
                       cost.bytes, cost.efficiency);
    return default_cost(sized);
}

/// What a coarse measurement shows.
void take_rough(Estimate& estimate, const Timing& timing) {
    // Few blocks are off by no more than this, either way.
    constexpr double rough = 1.5;
    if (timing.status == TimingStatus::ok) {
        estimate.seconds = timing.median;
        estimate.low = timing.median / rough;
        estimate.high = timing.median * rough;
        return;
    }
    estimate.low = std::max(estimate.low, timing.bound / rough);
    estimate.seconds = std::max(estimate.seconds, estimate.low);
    estimate.high = std::max(estimate.high, estimate.seconds);
}

/// A time that comes after all that were measured.
Estimate last(Estimate estimate) {
    estimate.seconds = estimate.low = estimate.high = 1 + 10 * estimate.high;
    estimate.note = "not measured while there was time: it counts last";
    return estimate;
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

std::string name_of_call(const Kernel& kernel, const SizedProblem& sized) { return kernel.id + ' ' + sized.text(); }

double roofline_seconds(const Kernel& kernel, const Problem& sized, const CostSource& source) {
    std::string note;
    const Roofline roofline = roofline_of(kernel, sized, cost_of(kernel, sized, note), source);
    return roofline.work + roofline.overhead;
}

Estimate estimate(const Kernel& kernel, const SizedProblem& problem, const CostSource& source) {
    const Problem& sized = *problem;
    Estimate result;
    const Roofline roofline = roofline_of(kernel, sized, cost_of(kernel, sized, result.note), source);
    const Fit fit = source.siblings == nullptr ? Fit{} : source.siblings->of(kernel);
    const double fitted = fit.factor * (roofline.work + roofline.overhead);
    result.low = std::max(roofline.arithmetic, roofline.work * fit.factor / fit.uncertainty) + roofline.overhead;
    result.seconds = std::max(fitted, result.low);
    result.high = fit.uncertainty * result.seconds;
    if (source.timings != nullptr)
        if (const auto timing = source.timings->find(problem.text(), kernel.id, source.environment, source.policy)) {
            const double seconds = timing->status == TimingStatus::ok         ? timing->median
                                   : timing->status == TimingStatus::censored ? timing->bound
                                                                              : 1 + 10 * result.high;
            if (timing->quality >= source.least_quality || timing->status == TimingStatus::failed)
                return {seconds, seconds, seconds, true, 0, false, {}};
            take_rough(result, *timing);
        }
    if (source.optimistic) result.seconds = result.low;
    if (source.in_hand == nullptr) return result;
    if (!source.in_hand->contains(name_of_call(kernel, problem))) return last(std::move(result));
    result.seconds = result.low;
    return result;
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
