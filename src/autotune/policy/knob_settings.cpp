#include "autotune/policy/knob_settings.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cairn::autotune {

std::vector<TuningTask> unknown_settings(std::span<const selection::Bucket> buckets,
                                         const selection::Selections& selections, const selection::CostModel& costs,
                                         const std::set<std::string>& tried) {
    std::vector<std::vector<TuningTask>> found(buckets.size());
    std::set<std::string> seen;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const std::vector<std::int64_t>& sizes : selection::representative_sizes(*buckets[b].graph.symbols()))
            for (const selection::Choice& choice : selections.buckets[b].chosen) {
                const selection::Candidate& candidate = choice.candidate;
                if (candidate.kernel->knobs.empty()) continue;
                const selection::SizedProblem sized(at_sizes(*candidate.problem, sizes));
                if (!seen.insert(selection::call_key(*candidate.kernel, sized)).second) continue;
                TuningTask task;
                for (const Kernel* setting : buckets[b].candidates.settings(candidate)) {
                    const bool is_known = selection::estimate(*setting, sized, costs).measured;
                    const bool is_new = !is_known && !tried.contains(selection::call_key(*setting, sized));
                    if (!task.calls.empty() && !is_new) continue;
                    add_call(task, *setting, *sized, false);
                    task.calls.back().time = is_new;
                }
                if (task.calls.size() < 2) continue;
                task.bucket = b;
                task.runs = runs_of(buckets[b], choice);
                task.potential_gain = task.runs * candidate.estimate.seconds;
                found[b].push_back(std::move(task));
            }
    return interleaved_by_bucket(std::move(found));
}

CandidateSet candidates_of_settings(const TuningTask& settings, const selection::CostModel& costs) {
    CandidateSet candidate_set;
    candidate_set.incumbent_seconds = std::numeric_limits<double>::infinity();
    const CandidateCall& first = settings.calls.front();
    const double known = selection::estimate(*first.kernel, first.problem, costs).seconds;
    for (const CandidateCall& call : settings.calls) {
        const double low = selection::estimate(*call.kernel, call.problem, costs).low;
        if (&call == &first || low < known)
            candidate_set.candidates.push_back({&call.problem, call.kernel, &call == &first ? 0 : low});
    }
    if (candidate_set.candidates.size() < 2) candidate_set.candidates.clear();
    return candidate_set;
}

}  // namespace cairn::autotune
