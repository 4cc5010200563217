#include "autotune/policy/task_priority.hpp"

#include <algorithm>

namespace cairn::autotune {
namespace {

constexpr double least_share = 0.01;

bool may_be_improved(const TuningTask& task, const selection::Estimate& chosen, const selection::CostModel& estimates) {
    return std::any_of(task.calls.begin() + 1, task.calls.end(), [&](const CandidateCall& call) {
        return selection::estimate(*call.kernel, call.problem, estimates).low < chosen.high;
    });
}

/// Weighted seconds of a bucket's runs under a plan.
double seconds_of_runs(const selection::Bucket& bucket, const selection::Selection& plan,
                       const selection::CostModel& estimates) {
    double sum = 0;
    for (const std::vector<std::int64_t>& sizes : selection::representative_sizes(*bucket.graph.symbols()))
        for (const selection::Choice& choice : plan.chosen) {
            const Problem sized = at_sizes(*choice.candidate.problem, sizes);
            sum += runs_of(bucket, choice) * selection::estimate(*choice.candidate.kernel, sized, estimates).seconds;
        }
    return sum;
}

}  // namespace

std::size_t uncertain_costly_first(std::vector<TuningTask>& all, std::span<const selection::Bucket> buckets,
                                   const selection::Selections& plan, const selection::CostModel& estimates) {
    std::vector<double> least;  // of each bucket
    for (std::size_t b = 0; b < buckets.size(); ++b)
        least.push_back(least_share * seconds_of_runs(buckets[b], plan.buckets[b], estimates));
    const auto is_wanted = [&](const TuningTask& task) {
        const CandidateCall& call = task.calls.front();
        const selection::Estimate chosen = selection::estimate(*call.kernel, call.problem, estimates);
        return task.runs * chosen.seconds >= least[task.bucket] && may_be_improved(task, chosen, estimates);
    };
    const auto rest = std::stable_partition(all.begin(), all.end(), is_wanted);
    return static_cast<std::size_t>(rest - all.begin());
}

}  // namespace cairn::autotune
