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

/// Weighted seconds of a bucket's runs.
double seconds_of_runs(const select::Bucket& bucket, const select::Selection& plan,
                       const select::CostSource& estimates) {
    double sum = 0;
    for (const std::vector<std::int64_t>& sizes : select::representative_sizes(*bucket.graph.symbols()))
        for (const select::Choice& choice : plan.chosen) {
            const Problem sized = at_sizes(*choice.candidate.problem, sizes);
            sum += runs_of(bucket, choice) * select::estimate(*choice.candidate.kernel, sized, estimates).seconds;
        }
    return sum;
}

}  // namespace

std::size_t costly_in_doubt_first(std::vector<Rivals>& all, std::span<const select::Bucket> buckets,
                                  const select::Selections& plan, const select::CostSource& estimates) {
    std::vector<double> least;  // of each bucket
    for (std::size_t b = 0; b < buckets.size(); ++b)
        least.push_back(least_share * seconds_of_runs(buckets[b], plan.buckets[b], estimates));
    const auto is_wanted = [&](const Rivals& rivals) {
        const Call& call = rivals.calls.front();
        const select::Estimate chosen = select::estimate(*call.kernel, call.problem, estimates);
        return rivals.runs * chosen.seconds >= least[rivals.bucket] && may_be_beaten(rivals, chosen, estimates);
    };
    const auto rest = std::stable_partition(all.begin(), all.end(), is_wanted);
    return static_cast<std::size_t>(rest - all.begin());
}

}  // namespace cairn::inline v0::tune
