#include "tune/rivals.hpp"

#include "select/memo.hpp"
#include "timing/contest.hpp"
#include "tune/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

namespace cairn::inline v0::tune {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// Unknown times as they are expected.
select::CostSource expecting(const select::CostSource& costs) {
    select::CostSource all = costs;
    all.optimistic = false;
    return all;
}

/// What is to be run for the error of a chosen candidate, where it states one and that is unknown.
std::optional<Problem> compared(const select::Candidate& candidate, const std::vector<std::int64_t>& sizes,
                                const select::CostSource& costs, std::span<const Definition> definitions) {
    if (candidate.estimate.error == candidate.rounding || candidate.estimate.error_measured) return std::nullopt;
    const Problem sized = at_sizes(*candidate.problem, sizes);
    if (select::known_error(sized, *candidate.kernel, costs)) return std::nullopt;
    return comparable(*candidate.kernel, *candidate.problem, sizes, definitions);
}

/// What is unknown of a chosen candidate at some sizes, and its rivals where that is its time.
std::optional<Rivals> rivals_of(const select::Bucket& bucket, const select::Choice& choice,
                                const std::vector<std::int64_t>& sizes, const select::CostSource& costs,
                                std::span<const Definition> definitions, const std::set<std::string>& tried) {
    const select::Candidate& candidate = choice.candidate;
    Rivals rivals;
    add_call(rivals, *candidate.kernel, at_sizes(*candidate.problem, sizes), true);
    Call& chosen = rivals.calls.front();
    const select::Estimate estimate = select::estimate(*chosen.kernel, chosen.problem, costs);
    chosen.time = !estimate.measured;
    if (!tried.contains(select::name_of_call(*chosen.kernel, chosen.problem)))
        chosen.compared = compared(candidate, sizes, costs, definitions);
    chosen.promised = candidate.estimate.error - candidate.rounding;
    if (!chosen.time && !chosen.compared) return std::nullopt;
    rivals.runs = runs_of(bucket, choice);
    rivals.at_stake = rivals.runs * (estimate.high - estimate.low);
    if (!chosen.time || candidate.tile < 0) return rivals;
    for (const select::Question* question : bucket.candidates.asked_for(candidate.tile))
        question->for_each_answer([&](const Kernel& kernel, const select::Judged& judged) {
            if (judged.refusal.empty()) add_call(rivals, kernel, at_sizes(*question->problem(), sizes), false);
        });
    return rivals;
}

/// The same call in another layer, or in another bucket.
void count_again(Rivals& rivals, double runs) {
    if (rivals.runs > 0) rivals.at_stake *= 1 + runs / rivals.runs;
    rivals.runs += runs;
}

}  // namespace

double runs_of(const select::Bucket& bucket, const select::Choice& choice) {
    const auto sizes = static_cast<double>(select::representative_sizes(*bucket.graph.symbols()).size());
    return bucket.weight * (bucket.candidates.bound()[choice.goal.value] ? select::bind_weight : 1) / sizes;
}

void add_call(Rivals& rivals, const Kernel& kernel, Problem sized, bool chosen) {
    for (const Call& call : rivals.calls)
        if (call.kernel == &kernel && call.problem == sized) return;
    rivals.calls.push_back({std::move(sized), &kernel, chosen, true});
}

std::vector<Rivals> in_turns(std::vector<std::vector<Rivals>> buckets) {
    std::vector<Rivals> all;
    std::size_t most = 0;
    for (std::vector<Rivals>& bucket : buckets) {
        std::stable_sort(bucket.begin(), bucket.end(),
                         [](const Rivals& a, const Rivals& b) { return a.at_stake > b.at_stake; });
        most = std::max(most, bucket.size());
    }
    for (std::size_t i = 0; i < most; ++i)
        for (std::vector<Rivals>& bucket : buckets)
            if (i < bucket.size()) all.push_back(std::move(bucket[i]));
    return all;
}

std::vector<Rivals> unknown_rivals(std::span<const select::Bucket> buckets, const select::Selections& selections,
                                   const select::CostSource& costs, std::span<const Definition> definitions,
                                   const std::set<std::string>& tried) {
    const select::CostSource expected = expecting(costs);
    std::vector<std::vector<Rivals>> found(buckets.size());
    std::map<std::string, Rivals*> seen;  // null: nothing of it is unknown
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto all_sizes = select::representative_sizes(*buckets[b].graph.symbols());
        found[b].reserve(all_sizes.size() * selections.buckets[b].chosen.size());  // they stay where they are
        for (const std::vector<std::int64_t>& sizes : all_sizes)
            for (const select::Choice& choice : selections.buckets[b].chosen) {
                const std::string name =
                    select::name_of_call(*choice.candidate.kernel, at_sizes(*choice.candidate.problem, sizes));
                const auto [known, fresh] = seen.try_emplace(name, nullptr);
                if (!fresh) {
                    if (known->second != nullptr) count_again(*known->second, runs_of(buckets[b], choice));
                    continue;
                }
                auto rivals = rivals_of(buckets[b], choice, sizes, expected, definitions, tried);
                if (!rivals) continue;
                rivals->bucket = b;
                found[b].push_back(std::move(*rivals));
                known->second = &found[b].back();
            }
    }
    return in_turns(std::move(found));
}

Field field_of(const Rivals& rivals, const select::CostSource& costs) {
    struct Runner {
        const Call* call;
        select::Estimate estimate;
    };
    const select::CostSource expected = expecting(costs);
    Field field;
    field.to_beat = endless;
    std::vector<Runner> runners;
    for (const Call& call : rivals.calls) {
        if (!call.time) continue;
        const select::Estimate estimate = select::estimate(*call.kernel, call.problem, expected);
        if (estimate.measured)
            field.to_beat = std::min(field.to_beat, estimate.seconds);
        else
            runners.push_back({&call, estimate});
    }
    double reached = field.to_beat;
    for (const Runner& runner : runners) reached = std::min(reached, runner.estimate.high);
    std::erase_if(runners,
                  [&](const Runner& runner) { return !runner.call->chosen && runner.estimate.low >= reached; });
    std::stable_sort(runners.begin(), runners.end(),
                     [](const Runner& a, const Runner& b) { return a.estimate.seconds < b.estimate.seconds; });
    for (const Runner& runner : runners)
        field.contestants.push_back(
            {&runner.call->problem, runner.call->kernel, runner.call->chosen ? 0 : runner.estimate.low});
    return field;
}

std::set<std::string> calls_of(std::span<const select::Bucket> buckets, const select::Selections& selections) {
    std::set<std::string> calls;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const auto& sizes : select::representative_sizes(*buckets[b].graph.symbols()))
            for (const select::Choice& choice : selections.buckets[b].chosen)
                calls.insert(
                    select::name_of_call(*choice.candidate.kernel, at_sizes(*choice.candidate.problem, sizes)));
    return calls;
}

namespace {

/// Calls `take` with each call that kernels were asked about and whose time is known, once.
template <typename F>
void for_each_time(std::span<const select::Bucket> buckets, const select::CostSource& costs, const F& take) {
    std::set<std::string> seen;
    for (const select::Bucket& bucket : buckets) {
        std::unordered_set<const select::Question*> asked;
        const auto all_sizes = select::representative_sizes(*bucket.graph.symbols());
        for (std::size_t tile = 0; tile < bucket.tiles.size(); ++tile)
            for (const select::Question* question : bucket.candidates.asked_for(static_cast<int>(tile))) {
                if (!asked.insert(question).second) continue;
                question->for_each_answer([&](const Kernel& kernel, const select::Judged& judged) {
                    if (!judged.refusal.empty() || !judged.estimate.measured) return;
                    for (const select::SizedProblem& sized : select::at_each(*question->problem(), all_sizes)) {
                        if (!seen.insert(select::name_of_call(kernel, sized)).second) continue;
                        const auto timing = costs.timings->find(sized.text(), kernel.id,
                                                                select::environment_of(kernel, costs), costs.policy);
                        if (timing && timing->status == TimingStatus::ok && timing->median > 0)
                            take(kernel, sized, timing->median);
                    }
                });
            }
    }
}

}  // namespace

Shown shown_by(std::span<const select::Bucket> buckets, const select::CostSource& costs) {
    struct Time {
        const Kernel* kernel;
        select::SizedProblem problem;
        double seconds;
    };
    std::vector<Time> times;
    Shown shown;
    for_each_time(buckets, costs, [&](const Kernel& kernel, const select::SizedProblem& sized, double seconds) {
        shown.own.add(kernel, seconds, select::roofline_seconds(kernel, *sized, costs));
        if (costs.priors != nullptr) times.push_back({&kernel, sized, seconds});
    });
    if (costs.priors == nullptr) return shown;
    select::CostSource at_pace = costs;
    if (!costs.is_calibrated) {
        at_pace.pace = 1;
        double logs = 0, count = 1;  // drawn towards 1 while there are few
        for (const Time& time : times)
            if (const auto carried = select::carried_seconds(*time.kernel, time.problem, at_pace)) {
                logs += std::log(time.seconds / *carried);
                ++count;
            }
        shown.pace = at_pace.pace = std::exp(logs / count);
    }
    shown.all = costs.priors->siblings();
    for (const Time& time : times)
        shown.all.add(*time.kernel, time.seconds,
                      select::expected_roofline_seconds(*time.kernel, *time.problem, at_pace));
    return shown;
}

select::CostSource with(select::CostSource costs, Shown shown) {
    costs.siblings = std::make_shared<const select::Siblings>(std::move(shown.own));
    if (costs.priors == nullptr) return costs;
    costs.expected = std::make_shared<const select::Siblings>(std::move(shown.all));
    costs.pace = shown.pace;
    return costs;
}

}  // namespace cairn::inline v0::tune
