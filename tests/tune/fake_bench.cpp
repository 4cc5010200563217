#include "tests/tune/fake_bench.hpp"

#include "device/context_parts.hpp"
#include "tests/timing/took.hpp"
#include "timing/splitmix.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::test {

FakeBench::FakeBench(select::CostSource nominal, std::uint64_t seed) : nominal_(std::move(nominal)), seed_(seed) {
    nominal_.timings = nullptr;
}

double FakeBench::time_of(const Kernel& kernel, const Problem& problem) {
    const std::string name = select::name_of_call(kernel, problem);
    const auto [known, fresh] = times_.try_emplace(name, 0);
    if (!fresh) return known->second;
    std::uint64_t state = seed_;
    for (const char c : name) state = state * 1099511628211U + static_cast<unsigned char>(c);
    const select::Estimate estimate = select::estimate(kernel, problem, nominal_);
    const double share = static_cast<double>(timing::mix(state) >> 11) * 0x1p-53;
    return known->second = estimate.low * std::pow(8 * estimate.seconds / estimate.low, share);
}

timing::ContestResult FakeBench::contest(std::span<const timing::Contestant> contestants,
                                         const timing::ContestOptions& options) {
    if (before_contest) before_contest(contests_);
    if (options.stop.stop_requested()) throw Cancelled("measure");
    ++contests_;
    const auto time = [&](int c, std::int64_t inner) {
        const timing::Contestant& contestant = contestants[static_cast<std::size_t>(c)];
        const double even = static_cast<double>(inner) * time_of(*contestant.kernel, *contestant.problem);
        const bool is_uneven = is_uneven_ && is_uneven_(select::name_of_call(*contestant.kernel, *contestant.problem));
        return is_uneven && ++blocks_ % 2 == 0 ? longer_ * even : even;
    };
    const timing::RaceResult race = timing::race(static_cast<int>(contestants.size()), time, options.race);
    timing::ContestResult result;
    result.seconds = race.seconds;
    for (std::size_t c = 0; c < contestants.size(); ++c) {
        Timing& timing = result.timings.emplace_back(race.entrants[c].timing);
        if (options.is_coarse) timing.quality = timing::coarse_quality;
        if (timing.status == TimingStatus::ok)
            ++measured_[select::name_of_call(*contestants[c].kernel, *contestants[c].problem)];
    }
    now_ += race.seconds + 1e-4;
    return result;
}

tune::Bench FakeBench::bench() {
    return {[this](std::span<const timing::Contestant> contestants, const timing::ContestOptions& options) {
                return contest(contestants, options);
            },
            [this] { return now_; }};
}

FakeTuning::FakeTuning(const Graph& graph, const Context& context, std::vector<Split> splits) {
    compile_options.mode = Mode::off;
    compile_options.splits = std::move(splits);
    stages = std::make_unique<Stages>(graph, context, compile_options);
    prepared = stages->prepare();
    selected = selectable(prepared);
    costs.machine = select::nominal_machine(context.features(), context.threads());
    costs.features = context.features();
    costs.policy.threads = context.threads();
    costs.environment = {"invented", ""};
    costs.timings = context.parts()->timings.get();
    options.seconds_per_kept_byte = 0;
}

double FakeTuning::time_of(const select::Bucket& bucket, const select::Candidate& way, const Problem& problem,
                           FakeBench& bench) const {
    double least = bench.time_of(*way.kernel, problem);
    if (any_setting && !way.kernel->knobs.empty())
        for (const Kernel* setting : bucket.candidates.settings(way))
            least = std::min(least, bench.time_of(*setting, problem));
    return least;
}

double FakeTuning::seconds(const select::Selections& selections, FakeBench& bench) {
    double sum = 0;
    for (std::size_t b = 0; b < selected.size(); ++b) {
        const auto sizes = select::representative_sizes(*selected[b].graph.symbols());
        for (const select::Choice& choice : selections.buckets[b].chosen) {
            if (selected[b].candidates.bound()[choice.goal.value]) continue;  // not a part of runs
            const auto sized = select::at_each(*choice.candidate.problem, sizes);
            for (const select::SizedProblem& problem : sized)
                sum += selected[b].weight * time_of(selected[b], choice.candidate, *problem, bench) /
                       static_cast<double>(sized.size());
        }
    }
    return sum;
}

select::Selections FakeTuning::best(FakeBench& bench) {
    TimingDb all{""};
    for (const select::Bucket& bucket : selected) {
        const auto sizes = select::representative_sizes(*bucket.graph.symbols());
        for (std::size_t tile = 0; tile < bucket.tiles.size(); ++tile)
            for (const select::Question* question : bucket.candidates.asked_for(static_cast<int>(tile)))
                question->for_each_answer([&](const Kernel& kernel, const select::Judged& judged) {
                    if (!judged.refusal.empty()) return;
                    select::Candidate way;
                    way.problem = question->problem();
                    way.kernel = &kernel;
                    for (const select::SizedProblem& problem : select::at_each(*question->problem(), sizes))
                        all.record(*problem, kernel.id, costs.environment, costs.policy,
                                   took(time_of(bucket, way, *problem, bench)));
                });
    }
    select::CostSource known = costs;
    known.timings = &all;
    for (const select::Bucket& bucket : selected) bucket.candidates.set_costs(known);
    return choose();
}

select::Selections FakeTuning::untuned() {
    select::CostSource nominal = costs;
    nominal.timings = nullptr;
    for (const select::Bucket& bucket : selected) bucket.candidates.set_costs(nominal);
    return choose();
}

}  // namespace cairn::test
