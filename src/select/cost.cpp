#include "select/cost.hpp"

#include "timing/contest.hpp"
#include "types/levels.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::select {
namespace {

// What a time of another machine weighs beside times of the same kernel at other sizes on this one.
constexpr double weight_of_same_call = 4;
// How far off it is, either way, in a typical case.
constexpr double most_off_elsewhere = 2;
// A twin of a lower level counts as slower by so much, where only one of the two is known.
constexpr double lower_twin = 1.02;
// By so much a time of few blocks has to be less than that of the plan in hand, so that chance alone changes no plan.
constexpr double clearly = 1.1;

Limits limits_of(const CostSource& source) { return {source.machine, source.features, source.devices}; }

/// What expectations stand on: this machine's limits where they are known, else the nearest machine's that is told of.
Calibration expected_machine(const CostSource& source) {
    if (source.is_calibrated || source.priors == nullptr) return source.machine;
    return slowed(source.priors->machine(), source.pace);
}

/// What the twins of a kernel let expect of it: as much as a lower one at most, as a higher one at least.
void compare_twins(Estimate& result, const Kernel& kernel, const SizedProblem& problem, const Cost& cost,
                   const CostSource& source, const Limits& here) {
    const auto compare = [&](FeatureSet needs) {
        const bool is_lower_one = is_lower(needs, kernel.needs);
        if (!source.features.includes(needs) || (!is_lower_one && !is_lower(kernel.needs, needs))) return;
        const auto twin = source.priors->find(kernel, needs, problem.text(), *problem, cost, here);
        if (!twin || (twin->at_least && is_lower_one)) return;
        const bool is_bound =
            is_lower_one ? result.seconds * lower_twin > twin->seconds : result.seconds < twin->seconds * lower_twin;
        if (!is_bound) return;
        result.seconds = is_lower_one ? twin->seconds / lower_twin : twin->seconds * lower_twin;
        result.from = twin->from;
    };
    compare(levels::baseline);
    for (const Feature feature : all_features) compare(implied_by(feature) | FeatureSet{feature});
}

/// What is expected of a call with what seeds tell of other machines. What it may take at least and at most is as
/// without them, or wider: a seed alone keeps nothing from being measured.
void expect(Estimate& result, const Kernel& kernel, const SizedProblem& problem, const Cost& cost,
            const CostSource& source) {
    const Calibration machine = expected_machine(source);
    const Limits here{machine, source.features, source.devices};
    const Roofline roofline = roofline_of(kernel, kernel.needs, *problem, cost, here);
    const Siblings& shown = source.expected != nullptr ? *source.expected : source.priors->siblings();
    const double fitted = shown.of(kernel).factor * roofline.seconds();
    result.seconds = fitted;
    result.from = source.priors->other_sizes(kernel);
    const auto carried = source.priors->find(kernel, kernel.needs, problem.text(), *problem, cost, here);
    if (carried && (!carried->at_least || carried->seconds > fitted)) {
        const double own = source.siblings == nullptr || carried->at_least ? 0 : source.siblings->weight_of(kernel);
        result.seconds = std::exp((own * std::log(fitted) + weight_of_same_call * std::log(carried->seconds)) /
                                  (own + weight_of_same_call));
        result.from = carried->from;
    }
    if (!carried) compare_twins(result, kernel, problem, cost, source, here);
    if (source.is_calibrated) result.seconds = std::max(result.seconds, roofline.arithmetic + roofline.overhead);
    result.low = std::min(result.low, result.seconds);
    result.high = std::max(result.high, result.seconds);
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
    const double expected = estimate.time();
    estimate.seconds = estimate.low = estimate.high = 1 + 10 * estimate.high;
    estimate.bias = estimate.seconds - expected;
    estimate.counts_last = true;
    return estimate;
}

}  // namespace

const TimingEnvironment& environment_of(const Kernel& kernel, const CostSource& source) {
    const auto other = source.others.find(kernel.device);
    return other == source.others.end() ? source.environment : other->second;
}

const TimingEnvironment& environment_of_programs(const CostSource& source) {
    // Another device's names the CPU too.
    return source.others.empty() ? source.environment : source.others.begin()->second;
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
    return roofline_of(kernel, kernel.needs, sized, counted_cost(kernel, sized, note), limits_of(source)).seconds();
}

double expected_roofline_seconds(const Kernel& kernel, const Problem& sized, const CostSource& source) {
    std::string note;
    const Calibration machine = expected_machine(source);
    return roofline_of(kernel, kernel.needs, sized, counted_cost(kernel, sized, note),
                       {machine, source.features, source.devices})
        .seconds();
}

std::optional<double> carried_seconds(const Kernel& kernel, const SizedProblem& problem, const CostSource& source) {
    if (source.priors == nullptr) return std::nullopt;
    std::string note;
    const Cost cost = counted_cost(kernel, *problem, note);
    const Calibration machine = expected_machine(source);
    const auto carried = source.priors->find(kernel, kernel.needs, problem.text(), *problem, cost,
                                             {machine, source.features, source.devices});
    return carried && !carried->at_least ? std::optional(carried->seconds) : std::nullopt;
}

std::optional<ErrorFigures> known_error(const Problem& sized, const Kernel& kernel, const CostSource& source) {
    if (source.timings == nullptr) return std::nullopt;
    auto worst = source.timings->find_error(sized, kernel.id, environment_of(kernel, source));
    if (worst || source.priors == nullptr) return worst;
    for (const TimingEnvironment& other : source.priors->environments())
        if (auto figures = source.timings->find_error(sized, kernel.id, other);
            figures && (!worst || figures->counted() > worst->counted()))
            worst = std::move(figures);
    return worst;
}

std::optional<ErrorFigures> broken_promise(const Problem& sized, const Kernel& kernel, const CostSource& source) {
    if (source.timings == nullptr) return std::nullopt;
    auto broken = source.timings->broken_promise(sized, kernel.id, environment_of(kernel, source));
    if (source.priors == nullptr) return broken;
    for (const TimingEnvironment& other : source.priors->environments())
        if (!broken) broken = source.timings->broken_promise(sized, kernel.id, other);
    return broken;
}

Estimate estimate(const Kernel& kernel, const SizedProblem& problem, const CostSource& source) {
    const Problem& sized = *problem;
    Estimate result;
    const Cost cost = counted_cost(kernel, sized, result.note);
    const Roofline roofline = roofline_of(kernel, kernel.needs, sized, cost, limits_of(source));
    const Fit fit = source.siblings == nullptr ? Fit{} : source.siblings->of(kernel);
    const double fitted = fit.factor * roofline.seconds();
    result.low = std::max(roofline.arithmetic, roofline.work * fit.factor / fit.uncertainty) + roofline.overhead;
    result.seconds = std::max(fitted, result.low);
    result.high = fit.uncertainty * result.seconds;
    if (source.timings != nullptr)
        if (const auto timing =
                source.timings->find(problem.text(), kernel.id, environment_of(kernel, source), source.policy)) {
            const bool is_failed = timing->status == TimingStatus::failed;
            const double seconds = timing->status == TimingStatus::ok         ? timing->median
                                   : timing->status == TimingStatus::censored ? timing->bound
                                                                              : 1 + 10 * result.high;
            if (timing->quality >= source.least_quality || timing->status == TimingStatus::failed) {
                const bool is_plain = timing->quality > timing::coarse_quality || source.in_hand == nullptr ||
                                      source.in_hand->contains(name_of_call(kernel, problem));
                const double counted = is_plain || is_failed ? seconds : clearly * seconds;
                Estimate known{counted, counted, counted, true};
                known.bias = is_failed ? seconds : counted - seconds;
                known.at_least = timing->status == TimingStatus::censored;
                if (is_failed) known.failure = timing->note.empty() ? "no reason is recorded" : timing->note;
                if (!is_plain && !is_failed) known.note = "in few blocks: it counts a tenth more";
                return known;
            }
            take_rough(result, *timing);
        }
    if (source.priors != nullptr && kernel.device == Device::cpu) expect(result, kernel, problem, cost, source);
    const double expected = result.seconds;
    if (source.optimistic) result.seconds = result.low;
    result.bias = result.seconds - expected;
    if (source.in_hand == nullptr) return result;
    if (!source.in_hand->contains(name_of_call(kernel, problem))) return last(std::move(result));
    // Those that are fast elsewhere were chosen, so these are the ones that may be faster here than any fit says.
    result.seconds = result.from == nullptr ? result.low : std::min(result.low, result.seconds / most_off_elsewhere);
    result.bias = result.seconds - expected;
    return result;
}

Estimate mean_estimate(const Kernel& kernel, std::span<const SizedProblem> sized, const CostSource& source) {
    Estimate mean;
    mean.measured = true;
    const auto count = static_cast<double>(sized.size());
    for (const SizedProblem& problem : sized) {
        Estimate one = estimate(kernel, problem, source);
        if (mean.failure.empty() && !one.failure.empty()) {
            mean.failure = std::move(one.failure);
            mean.failed_at = static_cast<int>(&problem - sized.data());
        }
        mean.bias += one.bias / count;
        mean.counts_last = mean.counts_last || one.counts_last;
        mean.at_least = mean.at_least || one.at_least;
        mean.seconds += one.seconds / count;
        mean.low += one.low / count;
        mean.high += one.high / count;
        if (kernel.device == Device::cpu)
            mean.handover += handover_seconds(*problem, source.machine, source.policy.threads) / count;
        mean.measured = mean.measured && one.measured;
        if (mean.note.empty()) mean.note = std::move(one.note);
        if (mean.from == nullptr) mean.from = std::move(one.from);
    }
    return mean;
}

}  // namespace cairn::inline v0::select
