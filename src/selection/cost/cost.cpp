#include "selection/cost/cost.hpp"

#include "autotune/measurement/benchmark.hpp"
#include "graph/types/isa_levels.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::selection {
namespace {

// Weight of another machine's time of the same call, against times of the same kernel at other sizes on this machine.
constexpr double weight_of_same_call = 4;
// Typical error of such a time, as a factor either way.
constexpr double cross_machine_uncertainty = 2;
// Expected slowdown of a narrower ISA variant if only one of the two variants has a time.
constexpr double narrower_isa_penalty = 1.02;
// Penalty on times of few blocks against the incumbent's, so that noise alone changes no plan.
constexpr double coarse_time_penalty = 1.1;

/// True if the rates of the kernel's device were measured.
bool has_measured_rates(const Kernel& kernel, const CostModel& model) {
    if (kernel.device == Device::cpu) return model.is_calibrated;
    const auto other = model.others.find(kernel.device);
    return other != model.others.end() && other->second.rates == RateSource::measured;
}

Limits limits_of(const CostModel& model) { return {model.machine, model.features, model.devices}; }

/// The limits that expected times are based on: this machine's if known, otherwise those of the nearest machine with
/// shipped timings.
Calibration expected_machine(const CostModel& model) {
    if (model.is_calibrated || model.priors == nullptr) return model.machine;
    return slowed(model.priors->machine(), model.time_scale);
}

/// Bounds the expected time by the times of ISA variants: at most that of a narrower one, at least that of a wider one.
void compare_isa_variants(Estimate& result, const Kernel& kernel, const SizedProblem& problem, const Cost& cost,
                          const CostModel& model, const Limits& here) {
    const auto compare = [&](FeatureSet needs) {
        const bool is_narrower_one = is_narrower_isa(needs, kernel.needs);
        if (!model.features.includes(needs) || (!is_narrower_one && !is_narrower_isa(kernel.needs, needs))) return;
        const auto variant = model.priors->find(kernel, needs, problem.text(), *problem, cost, here);
        if (!variant || (variant->is_lower_bound && is_narrower_one)) return;
        const bool is_bound = is_narrower_one ? result.seconds * narrower_isa_penalty > variant->seconds
                                              : result.seconds < variant->seconds * narrower_isa_penalty;
        if (!is_bound) return;
        result.seconds =
            is_narrower_one ? variant->seconds / narrower_isa_penalty : variant->seconds * narrower_isa_penalty;
        result.from = variant->from;
    };
    compare(levels::baseline);
    for (const Feature feature : all_features) compare(implied_by(feature) | FeatureSet{feature});
}

/// Applies shipped timings of other machines to the expected time. Its bounds stay or widen: a prior alone excludes
/// nothing from measurement.
void apply_priors(Estimate& result, const Kernel& kernel, const SizedProblem& problem, const Cost& cost,
                  const CostModel& model) {
    const Calibration machine = expected_machine(model);
    const Limits here{machine, model.features, model.devices};
    const Roofline roofline = roofline_of(kernel, kernel.needs, *problem, cost, here);
    const TimingTransfer& shown = model.expected != nullptr ? *model.expected : model.priors->timing_transfer();
    const double fitted = shown.of(kernel).factor * roofline.seconds();
    result.seconds = fitted;
    result.from = model.priors->environment_at_other_sizes(kernel);
    const auto scaled = model.priors->find(kernel, kernel.needs, problem.text(), *problem, cost, here);
    if (scaled && (!scaled->is_lower_bound || scaled->seconds > fitted)) {
        const double own =
            model.timing_transfer == nullptr || scaled->is_lower_bound ? 0 : model.timing_transfer->weight_of(kernel);
        result.seconds = std::exp((own * std::log(fitted) + weight_of_same_call * std::log(scaled->seconds)) /
                                  (own + weight_of_same_call));
        result.from = scaled->from;
    }
    if (!scaled) compare_isa_variants(result, kernel, problem, cost, model, here);
    if (model.is_calibrated) result.seconds = std::max(result.seconds, roofline.arithmetic + roofline.overhead);
    result.low = std::min(result.low, result.seconds);
    result.high = std::max(result.high, result.seconds);
}

/// Applies a coarse measurement.
void apply_coarse_timing(Estimate& estimate, const Timing& timing) {
    // Maximum error of a measurement of few blocks, as a factor either way.
    constexpr double coarse_factor = 1.5;
    if (timing.status == TimingStatus::ok) {
        estimate.seconds = timing.median;
        estimate.low = timing.median / coarse_factor;
        estimate.high = timing.median * coarse_factor;
        return;
    }
    estimate.low = std::max(estimate.low, timing.bound / coarse_factor);
    estimate.seconds = std::max(estimate.seconds, estimate.low);
    estimate.high = std::max(estimate.high, estimate.seconds);
}

/// Ranks a time after all measured ones.
Estimate ranked_last(Estimate estimate) {
    const double expected = estimate.time();
    estimate.seconds = estimate.low = estimate.high = 1 + 10 * estimate.high;
    estimate.bias = estimate.seconds - expected;
    estimate.ranked_last = true;
    return estimate;
}

}  // namespace

const TimingEnvironment& environment_of(const Kernel& kernel, const CostModel& model) {
    const auto other = model.others.find(kernel.device);
    if (other == model.others.end()) return model.environment;
    return kernel.definition == "copy_to" ? other->second.copies : other->second.kernels;
}

const TimingPolicy& policy_of(const Kernel& kernel, const CostModel& model) {
    const auto other = model.others.find(kernel.device);
    return other == model.others.end() ? model.policy : other->second.policy;
}

const TimingEnvironment& environment_of_programs(const CostModel& model) {
    return model.programs.hard.empty() ? model.environment : model.programs;
}

double kept_byte_price(Device device, const CostModel& model) {
    constexpr double core_bandwidth = 1e10;
    const auto rates = std::find_if(model.devices.begin(), model.devices.end(),
                                    [&](const DeviceRates& of) { return of.device == device; });
    return rates == model.devices.end() ? 1 : std::min(core_bandwidth / rates->bandwidth, 1.0);
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

std::vector<SizedProblem> sized_problems_at(const Problem& problem, std::span<const std::vector<std::int64_t>> sizes) {
    std::vector<SizedProblem> all;
    for (const std::vector<std::int64_t>& values : sizes)
        if (Problem sized = at_sizes(problem, values); all.empty() || !(sized == *all.back()))
            all.emplace_back(std::move(sized));
    return all;
}

std::string call_key(const Kernel& kernel, const SizedProblem& sized) { return kernel.id + ' ' + sized.text(); }

double roofline_seconds(const Kernel& kernel, const Problem& sized, const CostModel& model) {
    std::string note;
    return roofline_of(kernel, kernel.needs, sized, validated_cost(kernel, sized, note), limits_of(model)).seconds();
}

double expected_roofline_seconds(const Kernel& kernel, const Problem& sized, const CostModel& model) {
    std::string note;
    const Calibration machine = expected_machine(model);
    return roofline_of(kernel, kernel.needs, sized, validated_cost(kernel, sized, note),
                       {machine, model.features, model.devices})
        .seconds();
}

std::optional<double> scaled_prior_seconds(const Kernel& kernel, const SizedProblem& problem, const CostModel& model) {
    if (model.priors == nullptr) return std::nullopt;
    std::string note;
    const Cost cost = validated_cost(kernel, *problem, note);
    const Calibration machine = expected_machine(model);
    const auto scaled = model.priors->find(kernel, kernel.needs, problem.text(), *problem, cost,
                                           {machine, model.features, model.devices});
    return scaled && !scaled->is_lower_bound ? std::optional(scaled->seconds) : std::nullopt;
}

std::optional<ErrorMeasurement> measured_error(const Problem& sized, const Kernel& kernel, const CostModel& model) {
    if (model.timings == nullptr) return std::nullopt;
    auto worst = model.timings->find_error(sized, kernel.id, environment_of(kernel, model));
    if (worst || model.priors == nullptr) return worst;
    for (const TimingEnvironment& other : model.priors->environments())
        if (auto figures = model.timings->find_error(sized, kernel.id, other);
            figures && (!worst || figures->counted() > worst->counted()))
            worst = std::move(figures);
    return worst;
}

std::optional<ErrorMeasurement> find_error_violation(const Problem& sized, const Kernel& kernel,
                                                     const CostModel& model) {
    if (model.timings == nullptr) return std::nullopt;
    auto broken = model.timings->find_error_violation(sized, kernel.id, environment_of(kernel, model));
    if (model.priors == nullptr) return broken;
    for (const TimingEnvironment& other : model.priors->environments())
        if (!broken) broken = model.timings->find_error_violation(sized, kernel.id, other);
    return broken;
}

Estimate estimate(const Kernel& kernel, const SizedProblem& problem, const CostModel& model) {
    const Problem& sized = *problem;
    Estimate result;
    const Cost cost = validated_cost(kernel, sized, result.note);
    const Roofline roofline = roofline_of(kernel, kernel.needs, sized, cost, limits_of(model));
    const Fit fit = model.timing_transfer == nullptr ? Fit{} : model.timing_transfer->of(kernel);
    const double fitted = fit.factor * roofline.seconds();
    result.low = std::max(roofline.arithmetic, roofline.work * fit.factor / fit.uncertainty) + roofline.overhead;
    result.seconds = std::max(fitted, result.low);
    result.high = fit.uncertainty * result.seconds;
    if (has_measured_rates(kernel, model)) result.arithmetic = roofline.arithmetic, result.memory = roofline.memory;
    if (model.timings != nullptr)
        if (const auto timing = model.timings->find(problem.text(), kernel.id, environment_of(kernel, model),
                                                    policy_of(kernel, model))) {
            const bool is_failed = timing->status == TimingStatus::failed;
            const double seconds = timing->status == TimingStatus::ok         ? timing->median
                                   : timing->status == TimingStatus::censored ? timing->bound
                                                                              : 1 + 10 * result.high;
            if (timing->quality >= model.min_quality || timing->status == TimingStatus::failed) {
                const bool is_plain = timing->quality > autotune::coarse_quality || model.incumbent_calls == nullptr ||
                                      model.incumbent_calls->contains(call_key(kernel, problem));
                const double counted = is_plain || is_failed ? seconds : coarse_time_penalty * seconds;
                Estimate known{counted, counted, counted, true};
                known.bias = is_failed ? seconds : counted - seconds;
                known.is_lower_bound = timing->status == TimingStatus::censored;
                known.arithmetic = result.arithmetic, known.memory = result.memory;
                if (is_failed) known.failure = timing->note.empty() ? "no reason is recorded" : timing->note;
                if (!is_plain && !is_failed) known.note = "measured in few blocks: counted 10 % slower";
                return known;
            }
            apply_coarse_timing(result, *timing);
        }
    if (model.priors != nullptr && kernel.device == Device::cpu) apply_priors(result, kernel, problem, cost, model);
    const double expected = result.seconds;
    if (model.optimistic) result.seconds = result.low;
    result.bias = result.seconds - expected;
    if (model.incumbent_calls == nullptr) return result;
    if (!model.incumbent_calls->contains(call_key(kernel, problem))) return ranked_last(std::move(result));
    // Calls that are fast elsewhere became incumbents, so these may be faster here than any fit predicts.
    result.seconds =
        result.from == nullptr ? result.low : std::min(result.low, result.seconds / cross_machine_uncertainty);
    result.bias = result.seconds - expected;
    return result;
}

Estimate mean_estimate(const Kernel& kernel, std::span<const SizedProblem> sized, const CostModel& model) {
    Estimate mean;
    mean.measured = true;
    const auto count = static_cast<double>(sized.size());
    for (const SizedProblem& problem : sized) {
        Estimate one = estimate(kernel, problem, model);
        if (mean.failure.empty() && !one.failure.empty()) {
            mean.failure = std::move(one.failure);
            mean.failed_at = static_cast<int>(&problem - sized.data());
        }
        mean.bias += one.bias / count;
        mean.ranked_last = mean.ranked_last || one.ranked_last;
        mean.is_lower_bound = mean.is_lower_bound || one.is_lower_bound;
        mean.seconds += one.seconds / count;
        mean.low += one.low / count;
        mean.high += one.high / count;
        mean.arithmetic += one.arithmetic / count;
        mean.memory += one.memory / count;
        if (kernel.device == Device::cpu)
            mean.cross_core_transfer +=
                cross_core_transfer_seconds(*problem, model.machine, model.policy.threads) / count;
        mean.measured = mean.measured && one.measured;
        if (mean.note.empty()) mean.note = std::move(one.note);
        if (mean.from == nullptr) mean.from = std::move(one.from);
    }
    return mean;
}

}  // namespace cairn::selection
