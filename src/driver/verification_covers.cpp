#include "driver/verification_covers.hpp"

#include "driver/memory_limit.hpp"
#include "selection/choose/lock_replay.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace cairn::driver {
namespace {

bool is_inexact(const selection::Selection& selection) {
    return std::any_of(selection.chosen.begin(), selection.chosen.end(),
                       [](const selection::Choice& choice) { return choice.candidate.error() > 0; });
}

bool any_inexact(const selection::Selections& selections) {
    return std::any_of(selections.buckets.begin(), selections.buckets.end(), is_inexact);
}

/// The buckets with all error budgets set to 0.
class ExactBuckets {
public:
    explicit ExactBuckets(const std::vector<PreparedBucket>& buckets) : seen_(selection_buckets(buckets)) {
        for (selection::Bucket& bucket : seen_) {
            std::vector<accuracy::ErrorBudget>& bounds =
                bounds_.emplace_back(bucket.bounds.begin(), bucket.bounds.end());
            for (accuracy::ErrorBudget& bound : bounds) bound.limit = 0;
        }
        for (std::size_t b = 0; b < seen_.size(); ++b) seen_[b].bounds = bounds_[b];
    }
    std::span<const selection::Bucket> seen() const { return seen_; }

private:
    std::vector<selection::Bucket> seen_;
    std::vector<std::vector<accuracy::ErrorBudget>> bounds_;
};

/// The budgets of all results that users see: those of the tolerances, and the states that runs change and that outputs
/// depend on.
std::vector<accuracy::ErrorBudget> seen_values(const PreparedBucket& bucket, const CompileOptions& options) {
    const std::vector<accuracy::ErrorBudget> bounds =
        accuracy::error_budgets_of(*bucket.graph, options.tolerance, options.output_tolerances);
    std::vector<accuracy::ErrorBudget> all = bounds;
    const accuracy::ErrorInfluence influence(*bucket.graph, bucket.candidates->classes(), bounds);
    const auto& states = bucket.graph->states();
    for (int s = 0; s < static_cast<int>(states.size()); ++s) {
        const ir::StateInfo& state = states[static_cast<std::size_t>(s)];
        const bool is_bound = std::any_of(bounds.begin(), bounds.end(), [&](const accuracy::ErrorBudget& bound) {
            return bound.is_state && bound.port == s;
        });
        if (!is_bound && state.latest != state.read)
            all.push_back(accuracy::error_budget_of_state(*bucket.graph, s, influence.limit(state.latest)));
    }
    return all;
}

/// The combined error of all choices that influence a budget.
double error_in(const selection::Selection& selection, const accuracy::ErrorInfluence& influence, std::size_t bound) {
    double error = 0;
    for (const auto& [goal, candidate, number] : selection.chosen)
        if (selection::influences(goal, candidate, influence, bound))
            error = accuracy::combined_error(error, candidate.error());
    return error;
}

}  // namespace

ExactSource::ExactSource(const Graph& graph, const Context& context, const CompileOptions& options,
                         const Stages& stages, std::vector<PreparedBucket>& buckets)
    : stages_(stages), buckets_(buckets), own_options_(options) {
    const std::vector<KernelRule>& rules = stages.costs().rules;
    const auto is_pin = [](const KernelRule& rule) { return rule.action == RuleAction::pin; };
    if (stages.costs().tolerance == 0 || std::none_of(rules.begin(), rules.end(), is_pin)) return;
    own_options_.tolerance = Tolerance::exact();
    own_options_.output_tolerances.clear();
    if (options.mode != Mode::off) own_options_.mode = Mode::cached;  // a second program is no reason to measure
    own_options_.dump_stages.clear();
    own_stages_.emplace(graph, context, own_options_, "exact");
    own_buckets_ = own_stages_->prepare();
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        selection::Devices devices = own_buckets_[b].candidates->devices();
        if (devices.of_states == buckets[b].candidates->devices().of_states) continue;
        devices.of_states = buckets[b].candidates->devices().of_states;
        own_buckets_[b].candidates->set_devices(std::move(devices));
    }
}

selection::Selections exact_covers(const std::vector<PreparedBucket>& buckets,
                                   const selection::Options& select_options) {
    return selection::select(ExactBuckets(buckets).seen(), select_options);
}

std::optional<selection::Selections> find_verification_covers(const Stages& stages,
                                                              std::vector<PreparedBucket>& buckets,
                                                              const selection::Selections& chosen,
                                                              const CompileOptions& options,
                                                              const selection::Options& select_options) {
    if (!any_inexact(chosen)) return std::nullopt;
    if (!has_memory_limit(options)) return exact_covers(buckets, select_options);
    return find_within_limit(stages, buckets, ExactBuckets(buckets).seen(), &chosen, options, select_options);
}

std::optional<selection::Selections> choose_verification_covers(const Stages& stages,
                                                                std::vector<PreparedBucket>& buckets,
                                                                selection::Selections& chosen,
                                                                const CompileOptions& options,
                                                                const selection::Options& select_options) {
    if (!any_inexact(chosen)) return std::nullopt;
    std::optional<selection::Selections> exact =
        find_verification_covers(stages, buckets, chosen, options, select_options);
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

void attach_exact_program(const PreparedBucket& bucket, const selection::Selection& chosen, const ExactCover& exact,
                          const CompileOptions& options, runtime::BucketProgram& program) {
    const std::vector<accuracy::ErrorBudget> seen = seen_values(bucket, options);
    const accuracy::ErrorInfluence influence(*bucket.graph, bucket.candidates->classes(), seen);
    for (std::size_t v = 0; v < seen.size(); ++v) {
        const double error = accuracy::combined_error(error_in(chosen, influence, v),
                                                      accuracy::rounding_in(*bucket.graph, influence, v));
        if (error > 0) program.inexact.push_back({seen[v].is_state, seen[v].port, seen[v].limit, error});
    }
    if (program.inexact.empty()) return;
    const std::string name = bucket_name(bucket.cut.ranges);
    StageDriver driver(options, name.empty() ? "exact" : name + "_exact");
    program.exact = exact.stages.program_of(exact.bucket, exact.selection, driver);
    program.exact_steps = selection::steps_of(exact.selection);
}

}  // namespace cairn::driver
