#include "pipeline/exact_beside.hpp"

#include "pipeline/memory_limit.hpp"
#include "select/locked.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace cairn::inline v0 {
namespace {

bool is_inexact(const select::Selection& selection) {
    return std::any_of(selection.chosen.begin(), selection.chosen.end(),
                       [](const select::Choice& choice) { return choice.candidate.estimate.error > 0; });
}

bool any_inexact(const select::Selections& selections) {
    return std::any_of(selections.buckets.begin(), selections.buckets.end(), is_inexact);
}

/// Buckets in which no error is allowed anywhere.
class ExactBuckets {
public:
    explicit ExactBuckets(const std::vector<PreparedBucket>& buckets) : seen_(selectable(buckets)) {
        for (select::Bucket& bucket : seen_) {
            std::vector<select::Bound>& bounds = bounds_.emplace_back(bucket.bounds.begin(), bucket.bounds.end());
            for (select::Bound& bound : bounds) bound.limit = 0;
        }
        for (std::size_t b = 0; b < seen_.size(); ++b) seen_[b].bounds = bounds_[b];
    }
    std::span<const select::Bucket> seen() const { return seen_; }

private:
    std::vector<select::Bucket> seen_;
    std::vector<std::vector<select::Bound>> bounds_;
};

/// What users see of a bucket: its bounds, and the states that runs change and outputs are made of.
std::vector<select::Bound> seen_values(const PreparedBucket& bucket, const CompileOptions& options) {
    const std::vector<select::Bound> bounds =
        select::bounds_of(*bucket.graph, options.tolerance, options.output_tolerances);
    std::vector<select::Bound> all = bounds;
    const select::Influence influence(*bucket.graph, bucket.candidates->classes(), bounds);
    const auto& states = bucket.graph->states();
    for (int s = 0; s < static_cast<int>(states.size()); ++s) {
        const ir::StateInfo& state = states[static_cast<std::size_t>(s)];
        const bool is_bound = std::any_of(bounds.begin(), bounds.end(), [&](const select::Bound& bound) {
            return bound.is_state && bound.port == s;
        });
        if (!is_bound && state.latest != state.read)
            all.push_back(select::bound_of_state(*bucket.graph, s, influence.limit(state.latest)));
    }
    return all;
}

/// What the errors of all choices whose values show in a bound add up to.
double error_in(const select::Selection& selection, const select::Influence& influence, std::size_t bound) {
    double sum = 0;
    for (const auto& [goal, candidate, number] : selection.chosen)
        if (select::shows(goal, candidate, influence, bound)) sum += candidate.estimate.error;
    return sum;
}

}  // namespace

select::Selections exact_covers(const std::vector<PreparedBucket>& buckets, const select::Options& select_options) {
    return select::select(ExactBuckets(buckets).seen(), select_options);
}

std::optional<select::Selections> exact_beside(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                               const select::Selections& chosen, const CompileOptions& options,
                                               const select::Options& select_options) {
    if (!any_inexact(chosen)) return std::nullopt;
    if (!options.memory_limit) return exact_covers(buckets, select_options);
    return find_within_limit(stages, buckets, ExactBuckets(buckets).seen(), &chosen, options, select_options);
}

std::optional<select::Selections> choose_exact_beside(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                                      select::Selections& chosen, const CompileOptions& options,
                                                      const select::Options& select_options) {
    if (!any_inexact(chosen)) return std::nullopt;
    std::optional<select::Selections> exact = exact_beside(stages, buckets, chosen, options, select_options);
    if (!exact) {
        const ExactBuckets alone(buckets);
        chosen = choose_within_limit(stages, buckets, alone.seen(), options, select_options);
        return std::nullopt;
    }
    if (exact->kept_bytes > chosen.kept_bytes || expected_seconds(buckets, *exact) > expected_seconds(buckets, chosen))
        return exact;
    chosen = *std::move(exact);
    return std::nullopt;
}

void add_exact(const PreparedBucket& bucket, const select::Selection& chosen, const ExactCover& exact,
               const CompileOptions& options, runtime::BucketProgram& program) {
    const std::vector<select::Bound> seen = seen_values(bucket, options);
    const select::Influence influence(*bucket.graph, bucket.candidates->classes(), seen);
    for (std::size_t v = 0; v < seen.size(); ++v) {
        const double error = error_in(chosen, influence, v) + select::rounding_in(*bucket.graph, influence, v);
        if (error > 0) program.inexact.push_back({seen[v].is_state, seen[v].port, seen[v].limit, error});
    }
    if (program.inexact.empty()) return;
    const std::string name = name_of(bucket.cut.ranges);
    StageDriver driver(options, name.empty() ? "exact" : name + "_exact");
    program.exact = exact.stages.program_of(exact.bucket, exact.selection, driver);
    program.exact_steps = select::steps_of(exact.selection);
}

}  // namespace cairn::inline v0
