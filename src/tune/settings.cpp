#include "tune/settings.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cairn::inline v0::tune {

std::vector<Rivals> unknown_settings(std::span<const select::Bucket> buckets, const select::Selections& selections,
                                     const select::CostSource& costs, const std::set<std::string>& tried) {
    std::vector<std::vector<Rivals>> found(buckets.size());
    std::set<std::string> seen;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const std::vector<std::int64_t>& sizes : select::representative_sizes(*buckets[b].graph.symbols()))
            for (const select::Choice& choice : selections.buckets[b].chosen) {
                const select::Candidate& candidate = choice.candidate;
                if (candidate.kernel->knobs.empty()) continue;
                const select::SizedProblem sized(at_sizes(*candidate.problem, sizes));
                if (!seen.insert(select::name_of_call(*candidate.kernel, sized)).second) continue;
                Rivals rivals;
                for (const Kernel* setting : buckets[b].candidates.settings(candidate)) {
                    const bool is_known = select::estimate(*setting, sized, costs).measured;
                    const bool is_new = !is_known && !tried.contains(select::name_of_call(*setting, sized));
                    if (!rivals.calls.empty() && !is_new) continue;
                    add_call(rivals, *setting, *sized, false);
                    rivals.calls.back().time = is_new;
                }
                if (rivals.calls.size() < 2) continue;
                rivals.bucket = b;
                rivals.runs = runs_of(buckets[b], choice);
                rivals.at_stake = rivals.runs * candidate.estimate.seconds;
                found[b].push_back(std::move(rivals));
            }
    return in_turns(std::move(found));
}

Field field_of_settings(const Rivals& settings, const select::CostSource& costs) {
    Field field;
    field.to_beat = std::numeric_limits<double>::infinity();
    const Call& first = settings.calls.front();
    const double known = select::estimate(*first.kernel, first.problem, costs).seconds;
    for (const Call& call : settings.calls) {
        const double low = select::estimate(*call.kernel, call.problem, costs).low;
        if (&call == &first || low < known)
            field.contestants.push_back({&call.problem, call.kernel, &call == &first ? 0 : low});
    }
    if (field.contestants.size() < 2) field.contestants.clear();
    return field;
}

}  // namespace cairn::inline v0::tune
