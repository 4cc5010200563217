#include "tune/doubt.hpp"

#include <algorithm>

namespace cairn::inline v0::tune {
namespace {

constexpr double least_share = 0.01;

bool may_be_beaten(const Rivals& rivals, const select::Estimate& chosen, const select::CostSource& estimates) {
    return std::any_of(rivals.calls.begin() + 1, rivals.calls.end(), [&](const Call& call) {
        return select::estimate(*call.kernel, call.problem, estimates).low < chosen.high;
    });
}

/// Weighted seconds of one run of each bucket.
double seconds_of_plan(std::span<const select::Bucket> buckets, const select::Selections& plan,
                       const select::CostSource& estimates) {
    double sum = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto sizes = select::representative_sizes(*buckets[b].graph.symbols());
        for (const select::Choice& choice : plan.buckets[b].chosen)
            for (const std::vector<std::int64_t>& values : sizes)
                sum +=
                    runs_of(buckets[b], choice) *
                    select::estimate(*choice.candidate.kernel, at_sizes(*choice.candidate.problem, values), estimates)
                        .seconds;
    }
    return sum;
}

}  // namespace

std::size_t costly_in_doubt_first(std::vector<Rivals>& all, std::span<const select::Bucket> buckets,
                                  const select::Selections& plan, const select::CostSource& estimates) {
    const double least = least_share * seconds_of_plan(buckets, plan, estimates);
    const auto is_wanted = [&](const Rivals& rivals) {
        const Call& call = rivals.calls.front();
        const select::Estimate chosen = select::estimate(*call.kernel, call.problem, estimates);
        return rivals.runs * chosen.seconds >= least && may_be_beaten(rivals, chosen, estimates);
    };
    const auto rest = std::stable_partition(all.begin(), all.end(), is_wanted);
    return static_cast<std::size_t>(rest - all.begin());
}

}  // namespace cairn::inline v0::tune
