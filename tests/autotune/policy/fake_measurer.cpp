#include "tests/autotune/policy/fake_measurer.hpp"

#include "autotune/measurement/splitmix.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::test {

FakeMeasurer::FakeMeasurer(selection::CostModel nominal, std::uint64_t seed)
    : nominal_(std::move(nominal)), seed_(seed) {
    nominal_.timings = nullptr;
}

double FakeMeasurer::time_of(const Kernel& kernel, const Problem& problem) {
    const std::string name = selection::call_key(kernel, problem);
    const auto [known, fresh] = times_.try_emplace(name, 0);
    if (!fresh) return known->second;
    std::uint64_t state = seed_;
    for (const char c : name) state = state * 1099511628211U + static_cast<unsigned char>(c);
    const selection::Estimate estimate = selection::estimate(kernel, problem, nominal_);
    const double share = static_cast<double>(autotune::splitmix64(state) >> 11) * 0x1p-53;
    return known->second = estimate.low * std::pow(8 * estimate.seconds / estimate.low, share);
}

autotune::BenchmarkResult FakeMeasurer::benchmark_candidates(std::span<const autotune::BenchmarkCandidate> candidates,
                                                             const autotune::BenchmarkOptions& options) {
    if (before_benchmark) before_benchmark(benchmarks_);
    if (options.stop.stop_requested()) throw Cancelled("measure");
    ++benchmarks_;
    const auto time = [&](int c, std::int64_t inner) {
        const autotune::BenchmarkCandidate& candidate = candidates[static_cast<std::size_t>(c)];
        const double even = static_cast<double>(inner) * time_of(*candidate.kernel, *candidate.problem);
        const bool is_uneven = is_uneven_ && is_uneven_(selection::call_key(*candidate.kernel, *candidate.problem));
        return is_uneven && ++blocks_ % 2 == 0 ? longer_ * even : even;
    };
    const autotune::EliminationResult elimination =
        autotune::elimination(static_cast<int>(candidates.size()), time, options.elimination);
    autotune::BenchmarkResult result;
    result.seconds = elimination.seconds;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        Timing& timing = result.timings.emplace_back(elimination.candidates[c].timing);
        if (options.is_coarse) timing.quality = autotune::coarse_quality;
        if (timing.status == TimingStatus::ok)
            ++measured_[selection::call_key(*candidates[c].kernel, *candidates[c].problem)];
    }
    now_ += elimination.seconds + 1e-4;
    return result;
}

autotune::Measurer FakeMeasurer::measurer() {
    return {[this](std::span<const autotune::BenchmarkCandidate> candidates,
                   const autotune::BenchmarkOptions& options) { return benchmark_candidates(candidates, options); },
            [this] { return now_; }};
}

FakeTuning::FakeTuning(const Graph& graph, const Context& context, std::vector<Split> splits) {
    compile_options.mode = Mode::off;
    compile_options.splits = std::move(splits);
    stages = std::make_unique<driver::Stages>(graph, context, compile_options);
    prepared = stages->prepare();
    selected = driver::selection_buckets(prepared);
    costs.machine = selection::nominal_machine(context.features(), context.threads());
    costs.features = context.features();
    costs.policy.threads = context.threads();
    costs.environment = {"invented", ""};
    costs.timings = context.impl()->timings.get();
    options.seconds_per_kept_byte = 0;
}

double FakeTuning::time_of(const selection::Bucket& bucket, const selection::Candidate& choice, const Problem& problem,
                           FakeMeasurer& measurer) const {
    double least = measurer.time_of(*choice.kernel, problem);
    if (any_setting && !choice.kernel->knobs.empty())
        for (const Kernel* setting : bucket.candidates.settings(choice))
            least = std::min(least, measurer.time_of(*setting, problem));
    return least;
}

double FakeTuning::seconds(const selection::Selections& selections, FakeMeasurer& measurer) {
    double sum = 0;
    for (std::size_t b = 0; b < selected.size(); ++b) {
        const auto sizes = selection::representative_sizes(*selected[b].graph.symbols());
        for (const selection::Choice& choice : selections.buckets[b].chosen) {
            if (selected[b].candidates.bound()[choice.goal.value]) continue;  // runs once, at bind
            const auto sized = selection::sized_problems_at(*choice.candidate.problem, sizes);
            for (const selection::SizedProblem& problem : sized)
                sum += selected[b].weight * time_of(selected[b], choice.candidate, *problem, measurer) /
                       static_cast<double>(sized.size());
        }
    }
    return sum;
}

selection::Selections FakeTuning::best(FakeMeasurer& measurer) {
    TimingDb all{""};
    for (const selection::Bucket& bucket : selected) {
        const auto sizes = selection::representative_sizes(*bucket.graph.symbols());
        for (std::size_t match = 0; match < bucket.matches.size(); ++match)
            for (const selection::KernelQuery* query : bucket.candidates.queries_for(static_cast<int>(match)))
                query->for_each_answer([&](const Kernel& kernel, const selection::QueryResult& query_result) {
                    if (!query_result.refusal.empty()) return;
                    selection::Candidate choice;
                    choice.problem = query->problem();
                    choice.kernel = &kernel;
                    for (const selection::SizedProblem& problem :
                         selection::sized_problems_at(*query->problem(), sizes))
                        all.record(*problem, kernel.id, costs.environment, costs.policy,
                                   took(time_of(bucket, choice, *problem, measurer)));
                });
    }
    selection::CostModel known = costs;
    known.timings = &all;
    for (const selection::Bucket& bucket : selected) bucket.candidates.set_costs(known);
    return choose();
}

selection::Selections FakeTuning::untuned() {
    selection::CostModel nominal = costs;
    nominal.timings = nullptr;
    for (const selection::Bucket& bucket : selected) bucket.candidates.set_costs(nominal);
    return choose();
}

}  // namespace cairn::test
