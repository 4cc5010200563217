#include "autotune/policy/tuning_tasks.hpp"

#include "accuracy/kernel_check/error_measurement.hpp"
#include "autotune/measurement/benchmark.hpp"
#include "selection/choose/memo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

namespace cairn::autotune {
namespace {

constexpr double infinite_seconds = std::numeric_limits<double>::infinity();

/// Cost model with expected instead of optimistic times.
selection::CostModel with_expected_times(const selection::CostModel& costs) {
    selection::CostModel all = costs;
    all.optimistic = false;
    return all;
}

/// The problem to run for the error of a chosen candidate, if it states an error that is unknown.
std::optional<Problem> compared(const selection::Candidate& candidate, const std::vector<std::int64_t>& sizes,
                                const selection::CostModel& costs, std::span<const Definition> definitions) {
    if (candidate.estimate.error == 0 || candidate.estimate.error_measured) return std::nullopt;
    const Problem sized = at_sizes(*candidate.problem, sizes);
    if (selection::measured_error(sized, *candidate.kernel, costs)) return std::nullopt;
    return kernel_check::comparison_problem(*candidate.problem, sizes, definitions);
}

/// The task for what is unknown of a chosen candidate at some sizes; with its alternatives if its time is unknown.
std::optional<TuningTask> task_of(const selection::Bucket& bucket, const selection::Choice& choice,
                                  const std::vector<std::int64_t>& sizes, const selection::CostModel& costs,
                                  std::span<const Definition> definitions, const std::set<std::string>& tried) {
    const selection::Candidate& candidate = choice.candidate;
    TuningTask task;
    add_call(task, *candidate.kernel, at_sizes(*candidate.problem, sizes), true);
    CandidateCall& chosen = task.calls.front();
    const selection::Estimate estimate = selection::estimate(*chosen.kernel, chosen.problem, costs);
    chosen.time = !estimate.measured;
    if (!tried.contains(selection::call_key(*chosen.kernel, chosen.problem)))
        chosen.compared = compared(candidate, sizes, costs, definitions);
    chosen.promised = candidate.estimate.error;
    if (!chosen.time && !chosen.compared) return std::nullopt;
    task.runs = runs_of(bucket, choice);
    task.potential_gain = task.runs * (estimate.high - estimate.low);
    if (!chosen.time || candidate.match < 0) return task;
    for (const selection::KernelQuery* query : bucket.candidates.queries_for(candidate.match))
        query->for_each_answer([&](const Kernel& kernel, const selection::QueryResult& query_result) {
            if (query_result.refusal.empty()) add_call(task, kernel, at_sizes(*query->problem(), sizes), false);
        });
    return task;
}

/// Adds runs of the same call in another layer or bucket.
void add_runs(TuningTask& task, double runs) {
    if (task.runs > 0) task.potential_gain *= 1 + runs / task.runs;
    task.runs += runs;
}

}  // namespace

double runs_of(const selection::Bucket& bucket, const selection::Choice& choice) {
    const auto sizes = static_cast<double>(selection::representative_sizes(*bucket.graph.symbols()).size());
    return bucket.weight * (bucket.candidates.bound()[choice.goal.value] ? selection::bind_weight : 1) / sizes;
}

void add_call(TuningTask& task, const Kernel& kernel, Problem sized, bool chosen) {
    for (const CandidateCall& call : task.calls)
        if (call.kernel == &kernel && call.problem == sized) return;
    task.calls.push_back({std::move(sized), &kernel, chosen, true});
}

std::vector<TuningTask> interleaved_by_bucket(std::vector<std::vector<TuningTask>> buckets) {
    std::vector<TuningTask> all;
    std::size_t most = 0;
    for (std::vector<TuningTask>& bucket : buckets) {
        std::stable_sort(bucket.begin(), bucket.end(),
                         [](const TuningTask& a, const TuningTask& b) { return a.potential_gain > b.potential_gain; });
        most = std::max(most, bucket.size());
    }
    for (std::size_t i = 0; i < most; ++i)
        for (std::vector<TuningTask>& bucket : buckets)
            if (i < bucket.size()) all.push_back(std::move(bucket[i]));
    return all;
}

std::vector<TuningTask> unmeasured_tasks(std::span<const selection::Bucket> buckets,
                                         const selection::Selections& selections, const selection::CostModel& costs,
                                         std::span<const Definition> definitions, const std::set<std::string>& tried) {
    const selection::CostModel expected = with_expected_times(costs);
    std::vector<std::vector<TuningTask>> found(buckets.size());
    std::map<std::string, TuningTask*> seen;  // null: nothing of the call is unknown
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto all_sizes = selection::representative_sizes(*buckets[b].graph.symbols());
        found[b].reserve(all_sizes.size() * selections.buckets[b].chosen.size());  // pointers to elements are kept
        for (const std::vector<std::int64_t>& sizes : all_sizes)
            for (const selection::Choice& choice : selections.buckets[b].chosen) {
                const std::string name =
                    selection::call_key(*choice.candidate.kernel, at_sizes(*choice.candidate.problem, sizes));
                const auto [known, fresh] = seen.try_emplace(name, nullptr);
                if (!fresh) {
                    if (known->second != nullptr) add_runs(*known->second, runs_of(buckets[b], choice));
                    continue;
                }
                auto task = task_of(buckets[b], choice, sizes, expected, definitions, tried);
                if (!task) continue;
                task->bucket = b;
                found[b].push_back(std::move(*task));
                known->second = &found[b].back();
            }
    }
    return interleaved_by_bucket(std::move(found));
}

CandidateSet candidates_of(const TuningTask& task, const selection::CostModel& costs) {
    struct UnmeasuredCall {
        const CandidateCall* call;
        selection::Estimate estimate;
    };
    const selection::CostModel expected = with_expected_times(costs);
    CandidateSet candidate_set;
    candidate_set.incumbent_seconds = infinite_seconds;
    std::vector<UnmeasuredCall> unmeasured;
    for (const CandidateCall& call : task.calls) {
        if (!call.time) continue;
        const selection::Estimate estimate = selection::estimate(*call.kernel, call.problem, expected);
        if (estimate.measured)
            candidate_set.incumbent_seconds = std::min(candidate_set.incumbent_seconds, estimate.seconds);
        else
            unmeasured.push_back({&call, estimate});
    }
    double reached = candidate_set.incumbent_seconds;
    for (const UnmeasuredCall& each : unmeasured) reached = std::min(reached, each.estimate.high);
    std::erase_if(unmeasured,
                  [&](const UnmeasuredCall& each) { return !each.call->chosen && each.estimate.low >= reached; });
    std::stable_sort(unmeasured.begin(), unmeasured.end(), [](const UnmeasuredCall& a, const UnmeasuredCall& b) {
        return a.estimate.seconds < b.estimate.seconds;
    });
    for (const UnmeasuredCall& each : unmeasured)
        candidate_set.candidates.push_back(
            {&each.call->problem, each.call->kernel, each.call->chosen ? 0 : each.estimate.low});
    return candidate_set;
}

std::set<std::string> calls_of(std::span<const selection::Bucket> buckets, const selection::Selections& selections) {
    std::set<std::string> calls;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const auto& sizes : selection::representative_sizes(*buckets[b].graph.symbols()))
            for (const selection::Choice& choice : selections.buckets[b].chosen)
                calls.insert(selection::call_key(*choice.candidate.kernel, at_sizes(*choice.candidate.problem, sizes)));
    return calls;
}

namespace {

/// Calls `visit` once with each queried call whose time is known.
template <typename F>
void for_each_time(std::span<const selection::Bucket> buckets, const selection::CostModel& costs, const F& visit) {
    std::set<std::string> seen;
    for (const selection::Bucket& bucket : buckets) {
        std::unordered_set<const selection::KernelQuery*> visited;
        const auto all_sizes = selection::representative_sizes(*bucket.graph.symbols());
        for (std::size_t match = 0; match < bucket.matches.size(); ++match)
            for (const selection::KernelQuery* query : bucket.candidates.queries_for(static_cast<int>(match))) {
                if (!visited.insert(query).second) continue;
                query->for_each_answer([&](const Kernel& kernel, const selection::QueryResult& query_result) {
                    if (!query_result.refusal.empty() || !query_result.estimate.measured) return;
                    for (const selection::SizedProblem& sized :
                         selection::sized_problems_at(*query->problem(), all_sizes)) {
                        if (!seen.insert(selection::call_key(kernel, sized)).second) continue;
                        const auto timing =
                            costs.timings->find(sized.text(), kernel.id, selection::environment_of(kernel, costs),
                                                selection::policy_of(kernel, costs));
                        if (timing && timing->status == TimingStatus::ok && timing->median > 0)
                            visit(kernel, sized, timing->median);
                    }
                });
            }
    }
}

}  // namespace

LearnedEstimates learned_from(std::span<const selection::Bucket> buckets, const selection::CostModel& costs) {
    struct Time {
        const Kernel* kernel;
        selection::SizedProblem problem;
        double seconds;
    };
    std::vector<Time> times;
    LearnedEstimates learned;
    for_each_time(buckets, costs, [&](const Kernel& kernel, const selection::SizedProblem& sized, double seconds) {
        learned.own.add(kernel, seconds, selection::roofline_seconds(kernel, *sized, costs));
        if (costs.priors != nullptr) times.push_back({&kernel, sized, seconds});
    });
    if (costs.priors == nullptr) return learned;
    selection::CostModel at_pace = costs;
    if (!costs.is_calibrated) {
        at_pace.time_scale = 1;
        double logs = 0, count = 1;  // shrinks the mean towards 1 while there are few times
        for (const Time& time : times)
            if (const auto carried = selection::scaled_prior_seconds(*time.kernel, time.problem, at_pace)) {
                logs += std::log(time.seconds / *carried);
                ++count;
            }
        learned.time_scale = at_pace.time_scale = std::exp(logs / count);
    }
    learned.all = costs.priors->timing_transfer();
    for (const Time& time : times)
        learned.all.add(*time.kernel, time.seconds,
                        selection::expected_roofline_seconds(*time.kernel, *time.problem, at_pace));
    return learned;
}

selection::CostModel with_learned(selection::CostModel costs, LearnedEstimates learned) {
    costs.timing_transfer = std::make_shared<const selection::TimingTransfer>(std::move(learned.own));
    if (costs.priors == nullptr) return costs;
    costs.expected = std::make_shared<const selection::TimingTransfer>(std::move(learned.all));
    costs.time_scale = learned.time_scale;
    return costs;
}

}  // namespace cairn::autotune
