#include "select/priors.hpp"

#include "cairn/problem.hpp"
#include "timing/environment_text.hpp"
#include "timing/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

namespace cairn::inline v0::select {
namespace {

// Environments that are asked; a further one tells little that nearer ones do not.
constexpr std::size_t most_origins = 4;
// What a time of another machine weighs beside one of this machine, and what all of a kernel's weigh together.
constexpr double weight_of_one = 0.25, most_weight = 3;

std::string name_of(std::string_view kernel, std::string_view problem) {
    std::string name(kernel);
    return name.append(" ").append(problem);
}

struct Near {
    timing::Farness far;
    TimingEnvironment environment;
    timing::EnvironmentText text;
};

}  // namespace

Priors::Priors(const TimingDb& timings, const TimingEnvironment& here, const TimingPolicy& policy,
               const KernelSet& kernels, FeatureSet features) {
    const std::optional<timing::EnvironmentText> own = timing::parse_environment(here.hard);
    std::vector<Near> near;
    for (TimingEnvironment& each : timings.seed_environments()) {
        if (each.hard == here.hard) continue;
        environments_.push_back(each);
        auto text = timing::parse_environment(each.hard);
        if (own && text) near.push_back({timing::farness(*own, *text), std::move(each), std::move(*text)});
    }
    std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.far < b.far; });
    for (const Near& each : near) {
        TimingPolicy theirs = policy;
        theirs.threads = each.text.threads;
        const std::vector<SeedTime> times = timings.seed_times(each.environment, theirs);
        if (times.empty() || origins_.size() == most_origins) continue;
        Origin& origin = origins_.emplace_back();
        origin.name = std::make_shared<const std::string>(timing::short_name(each.text));
        origin.features = each.text.features;
        const auto known = timing::known_machine(timings, each.environment, theirs);
        origin.machine = known ? known->machine : nominal_machine(each.text.features, each.text.threads);
        for (const SeedTime& time : times)
            if (time.timing.status != TimingStatus::failed) {
                const bool at_least = time.timing.status == TimingStatus::censored;
                origin.times.insert_or_assign(name_of(time.kernel, time.problem),
                                              Time{at_least ? time.timing.bound : time.timing.median, at_least});
            }
        learn(origin, times, kernels);
    }
    if (!origins_.empty()) machine_ = with_features(origins_.front().machine, origins_.front().features, features);
}

void Priors::learn(const Origin& origin, const std::vector<SeedTime>& times, const KernelSet& kernels) {
    std::map<std::string_view, const Kernel*> by_id;
    for (const Kernel& kernel : kernels.kernels)
        if (kernel.device == Device::cpu) by_id.emplace(kernel.id, &kernel);
    struct Shown {
        double measured, roofline;
    };
    std::map<const Kernel*, std::vector<Shown>> shown;
    const Limits there{origin.machine, origin.features};
    // Times come in the order of their problems.
    std::string_view text;
    std::optional<Problem> problem;
    for (const SeedTime& time : times) {
        const auto known = by_id.find(time.kernel);
        if (time.timing.status != TimingStatus::ok || known == by_id.end() || told_.contains(time.kernel)) continue;
        try {
            if (std::exchange(text, time.problem) != time.problem) {
                problem.reset();
                problem = parse_problem(time.problem, *Symbols::create());
            }
            if (!problem) continue;
            std::string note;
            const Cost cost = counted_cost(*known->second, *problem, note);
            const double roofline = roofline_of(*known->second, known->second->needs, *problem, cost, there).seconds();
            if (roofline > 0) shown[known->second].push_back({time.timing.median, roofline});
        } catch (const std::exception&) {  // a problem, or a cost, of another version tells nothing
        }
    }
    for (const auto& [kernel, all] : shown) {
        told_[kernel->id] = std::make_shared<const std::string>(*origin.name + ", at other sizes");
        const double weight = std::min(weight_of_one, most_weight / static_cast<double>(all.size()));
        for (const Shown& one : all) siblings_.add(*kernel, one.measured, one.roofline, weight);
    }
}

std::optional<Priors::Carried> Priors::find(const Kernel& kernel, FeatureSet needs, std::string_view problem_text,
                                            const Problem& sized, const Cost& cost, const Limits& here) const {
    if (kernel.device != Device::cpu) return std::nullopt;
    const std::string id = needs == kernel.needs ? kernel.id : twin_of(kernel, needs);
    if (id.empty()) return std::nullopt;
    const std::string name = name_of(id, problem_text);
    for (const Origin& origin : origins_) {
        const auto time = origin.times.find(name);
        if (time == origin.times.end()) continue;
        const double there = roofline_of(kernel, needs, sized, cost, {origin.machine, origin.features}).seconds();
        const double ratio = there > 0 ? roofline_of(kernel, needs, sized, cost, here).seconds() / there : 1;
        return Carried{time->second.seconds * ratio, time->second.at_least, origin.name};
    }
    return std::nullopt;
}

std::shared_ptr<const std::string> Priors::other_sizes(const Kernel& kernel) const {
    const auto told = told_.find(kernel.id);
    return told == told_.end() ? nullptr : told->second;
}

}  // namespace cairn::inline v0::select
