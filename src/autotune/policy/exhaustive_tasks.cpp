#include "autotune/policy/exhaustive_tasks.hpp"

#include "selection/choose/memo.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace cairn::autotune {
namespace {

/// The alternatives of a goal at some sizes, with all settings, without calls already in `seen`.
TuningTask task_of_goal(const selection::Memo& memo, int goal, const std::vector<std::int64_t>& sizes,
                        const selection::CostModel& costs, selection::Candidates& candidates,
                        std::set<std::string>& seen) {
    TuningTask task;
    const auto add = [&](const Kernel& kernel, const Problem& problem) {
        Problem sized = at_sizes(problem, sizes);
        if (!seen.insert(selection::call_key(kernel, sized)).second) return;
        const selection::Estimate estimate = selection::estimate(kernel, sized, costs);
        task.potential_gain = std::max(task.potential_gain, estimate.seconds);
        add_call(task, kernel, std::move(sized), false);
        task.calls.back().time = !estimate.measured;
    };
    for (int choice = memo.problem.first(goal); choice < memo.problem.first(goal + 1); ++choice) {
        const selection::Candidate& candidate = memo.candidate(choice);
        if (candidate.kernel == nullptr) continue;
        add(*candidate.kernel, *candidate.problem);
        for (const Kernel* setting : candidates.settings(candidate)) add(*setting, *candidate.problem);
    }
    return task;
}

}  // namespace

std::vector<TuningTask> exhaustive_tasks(std::span<const selection::Bucket> buckets, const selection::CostModel& costs,
                                         const std::stop_token& stop) {
    const selection::Memo memo = selection::memo_of(buckets, selection::Breadth::all, stop);
    std::vector<std::vector<std::vector<std::int64_t>>> sizes;
    for (const selection::Bucket& bucket : buckets)
        sizes.push_back(selection::representative_sizes(*bucket.graph.symbols()));
    std::vector<std::vector<TuningTask>> found(buckets.size());
    std::set<std::string> seen;
    for (int goal = 0; goal < memo.problem.goals(); ++goal) {
        if (stop.stop_requested()) throw Cancelled("tune");
        const auto b = static_cast<std::size_t>(memo.goals[static_cast<std::size_t>(goal)].bucket);
        for (const std::vector<std::int64_t>& values : sizes[b]) {
            TuningTask task = task_of_goal(memo, goal, values, costs, buckets[b].candidates, seen);
            if (task.calls.empty()) continue;
            task.bucket = b;
            task.runs = buckets[b].weight;
            task.potential_gain *= task.runs;
            found[b].push_back(std::move(task));
        }
    }
    return interleaved_by_bucket(std::move(found));
}

CandidateSet all_candidates_of(const TuningTask& task, const selection::CostModel& costs) {
    CandidateSet candidate_set;
    candidate_set.incumbent_seconds = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, autotune::BenchmarkCandidate>> unmeasured;
    for (const CandidateCall& call : task.calls) {
        const selection::Estimate estimate = selection::estimate(*call.kernel, call.problem, costs);
        if (estimate.measured)
            candidate_set.incumbent_seconds = std::min(candidate_set.incumbent_seconds, estimate.seconds);
        else
            unmeasured.push_back({estimate.seconds, {&call.problem, call.kernel}});
    }
    std::stable_sort(unmeasured.begin(), unmeasured.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [seconds, candidate] : unmeasured) candidate_set.candidates.push_back(candidate);
    return candidate_set;
}

}  // namespace cairn::autotune
