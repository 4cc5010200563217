#include "selection/cost/priors.hpp"

#include "autotune/database/environment_text.hpp"
#include "autotune/measurement/calibration_records.hpp"
#include "cairn/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

namespace cairn::selection {
namespace {

// Maximum number of environments used; further ones add little to nearer ones.
constexpr std::size_t max_prior_environments = 4;
// Weight of a time of another machine against one of this machine, and of all times of one kernel together.
constexpr double weight_of_sample = 0.25, max_kernel_weight = 3;

std::string name_of(std::string_view kernel, std::string_view problem) {
    std::string name(kernel);
    return name.append(" ").append(problem);
}

struct NearbyEnvironment {
    autotune::EnvironmentDistance far;
    TimingEnvironment environment;
    autotune::EnvironmentText text;
};

}  // namespace

Priors::Priors(const TimingDb& timings, const TimingEnvironment& here, const TimingPolicy& policy,
               const KernelSet& kernels, FeatureSet features) {
    const std::optional<autotune::EnvironmentText> own = autotune::parse_environment(here.hard);
    std::vector<NearbyEnvironment> near;
    for (TimingEnvironment& each : timings.shipped_environments()) {
        if (each.hard == here.hard) continue;
        environments_.push_back(each);
        auto text = autotune::parse_environment(each.hard);
        if (own && text)
            near.push_back({autotune::environment_distance(*own, *text), std::move(each), std::move(*text)});
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const NearbyEnvironment& a, const NearbyEnvironment& b) { return a.far < b.far; });
    for (const NearbyEnvironment& each : near) {
        TimingPolicy theirs = policy;
        theirs.threads = each.text.threads;
        const std::vector<ShippedTiming> times = timings.shipped_timings_of(each.environment, theirs);
        if (times.empty() || prior_environments_.size() == max_prior_environments) continue;
        PriorEnvironment& prior = prior_environments_.emplace_back();
        prior.name = std::make_shared<const std::string>(autotune::short_name(each.text));
        prior.features = each.text.features;
        const auto known = autotune::stored_calibration(timings, each.environment, theirs);
        prior.machine = known ? known->machine : nominal_machine(each.text.features, each.text.threads);
        for (const ShippedTiming& time : times)
            if (time.timing.status != TimingStatus::failed) {
                const bool is_lower_bound = time.timing.status == TimingStatus::censored;
                prior.times.insert_or_assign(
                    name_of(time.kernel, time.problem),
                    Time{is_lower_bound ? time.timing.bound : time.timing.median, is_lower_bound});
            }
        fit_timing_transfer(prior, times, kernels);
    }
    if (!prior_environments_.empty())
        machine_ = with_features(prior_environments_.front().machine, prior_environments_.front().features, features);
}

void Priors::fit_timing_transfer(const PriorEnvironment& prior, const std::vector<ShippedTiming>& times,
                                 const KernelSet& kernels) {
    std::map<std::string_view, const Kernel*> by_id;
    for (const Kernel& kernel : kernels.kernels)
        if (kernel.device == Device::cpu) by_id.emplace(kernel.id, &kernel);
    struct RooflineSample {
        double measured, roofline;
    };
    std::map<const Kernel*, std::vector<RooflineSample>> shown;
    const Limits there{prior.machine, prior.features};
    // Timings are sorted by problem.
    std::string_view text;
    std::optional<Problem> problem;
    for (const ShippedTiming& time : times) {
        const auto known = by_id.find(time.kernel);
        if (time.timing.status != TimingStatus::ok || known == by_id.end() || other_size_priors_.contains(time.kernel))
            continue;
        try {
            if (std::exchange(text, time.problem) != time.problem) {
                problem.reset();
                problem = parse_problem(time.problem, *Symbols::create());
            }
            if (!problem) continue;
            std::string note;
            const Cost cost = validated_cost(*known->second, *problem, note);
            const double roofline = roofline_of(*known->second, known->second->needs, *problem, cost, there).seconds();
            if (roofline > 0) shown[known->second].push_back({time.timing.median, roofline});
        } catch (const std::exception&) {  // ignore a problem or a cost of another version
        }
    }
    for (const auto& [kernel, all] : shown) {
        other_size_priors_[kernel->id] = std::make_shared<const std::string>(*prior.name + ", at other sizes");
        const double weight = std::min(weight_of_sample, max_kernel_weight / static_cast<double>(all.size()));
        for (const RooflineSample& one : all) timing_transfer_.add(*kernel, one.measured, one.roofline, weight);
    }
}

std::optional<Priors::ScaledTime> Priors::find(const Kernel& kernel, FeatureSet needs, std::string_view problem_text,
                                               const Problem& sized, const Cost& cost, const Limits& here) const {
    if (kernel.device != Device::cpu) return std::nullopt;
    const std::string id = needs == kernel.needs ? kernel.id : isa_variant_of(kernel, needs);
    if (id.empty()) return std::nullopt;
    const std::string name = name_of(id, problem_text);
    for (const PriorEnvironment& prior : prior_environments_) {
        const auto time = prior.times.find(name);
        if (time == prior.times.end()) continue;
        const double there = roofline_of(kernel, needs, sized, cost, {prior.machine, prior.features}).seconds();
        const double ratio = there > 0 ? roofline_of(kernel, needs, sized, cost, here).seconds() / there : 1;
        return ScaledTime{time->second.seconds * ratio, time->second.is_lower_bound, prior.name};
    }
    return std::nullopt;
}

std::shared_ptr<const std::string> Priors::environment_at_other_sizes(const Kernel& kernel) const {
    const auto prior_name = other_size_priors_.find(kernel.id);
    return prior_name == other_size_priors_.end() ? nullptr : prior_name->second;
}

}  // namespace cairn::selection
