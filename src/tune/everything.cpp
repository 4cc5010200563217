#include "tune/everything.hpp"

#include "select/memo.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace cairn::inline v0::tune {
namespace {

/// The alternatives of a goal at some sizes, at all settings, without calls that were seen already.
Rivals rivals_of_goal(const select::Memo& memo, int goal, const std::vector<std::int64_t>& sizes,
                      const select::CostSource& costs, select::Candidates& candidates, std::set<std::string>& seen) {
    Rivals rivals;
    const auto add = [&](const Kernel& kernel, const Problem& problem) {
        Problem sized = at_sizes(problem, sizes);
        if (!seen.insert(select::name_of_call(kernel, sized)).second) return;
        const select::Estimate estimate = select::estimate(kernel, sized, costs);
        rivals.at_stake = std::max(rivals.at_stake, estimate.seconds);
        add_call(rivals, kernel, std::move(sized), false);
        rivals.calls.back().time = !estimate.measured;
    };
    for (int choice = memo.problem.first(goal); choice < memo.problem.first(goal + 1); ++choice) {
        const select::Candidate& candidate = memo.candidate(choice);
        if (candidate.kernel == nullptr) continue;
        add(*candidate.kernel, *candidate.problem);
        for (const Kernel* setting : candidates.settings(candidate)) add(*setting, *candidate.problem);
    }
    return rivals;
}

}  // namespace

std::vector<Rivals> all_rivals(std::span<const select::Bucket> buckets, const select::CostSource& costs,
                               const std::stop_token& stop) {
    const select::Memo memo = select::memo_of(buckets, select::Breadth::all, stop);
    std::vector<std::vector<std::vector<std::int64_t>>> sizes;
    for (const select::Bucket& bucket : buckets) sizes.push_back(select::representative_sizes(*bucket.graph.symbols()));
    std::vector<std::vector<Rivals>> found(buckets.size());
    std::set<std::string> seen;
    for (int goal = 0; goal < memo.problem.goals(); ++goal) {
        if (stop.stop_requested()) throw Cancelled("tune");
        const auto b = static_cast<std::size_t>(memo.goals[static_cast<std::size_t>(goal)].bucket);
        for (const std::vector<std::int64_t>& values : sizes[b]) {
            Rivals rivals = rivals_of_goal(memo, goal, values, costs, buckets[b].candidates, seen);
            if (rivals.calls.empty()) continue;
            rivals.bucket = b;
            rivals.runs = buckets[b].weight;
            rivals.at_stake *= rivals.runs;
            found[b].push_back(std::move(rivals));
        }
    }
    return in_turns(std::move(found));
}

Field whole_field_of(const Rivals& rivals, const select::CostSource& costs) {
    Field field;
    field.to_beat = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, timing::Contestant>> runners;
    for (const Call& call : rivals.calls) {
        const select::Estimate estimate = select::estimate(*call.kernel, call.problem, costs);
        if (estimate.measured)
            field.to_beat = std::min(field.to_beat, estimate.seconds);
        else
            runners.push_back({estimate.seconds, {&call.problem, call.kernel}});
    }
    std::stable_sort(runners.begin(), runners.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [seconds, contestant] : runners) field.contestants.push_back(contestant);
    return field;
}

}  // namespace cairn::inline v0::tune
