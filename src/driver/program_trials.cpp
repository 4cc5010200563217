#include "driver/program_trials.hpp"

#include "autotune/policy/effort.hpp"
#include "autotune/policy/paired_trial.hpp"
#include "autotune/policy/program_trials.hpp"
#include "device/context_impl.hpp"
#include "driver/memory_limit.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace cairn::driver {
namespace {

std::vector<std::string> kind_names(const std::vector<selection::CallKind>& kinds) {
    std::vector<std::string> lines;
    for (const selection::CallKind& kind : kinds) lines.push_back(selection::to_string(kind));
    return lines;
}

/// The combined result of the trials of earlier compiles.
ProgramTrial recorded_trial(const Choice& choice, const autotune::TrialRecord& trial_record) {
    return {kind_names(trial_record.terms.without),
            !trial_record.terms.only.empty(),
            0,
            choice.ratio,
            choice.low,
            choice.high,
            choice.samples,
            true};
}

/// The answer to be stored: how much faster the winner is than the cover that sums of kernel times choose.
Choice answer_of(const autotune::ProgramTrialsOutcome& trials, const std::optional<Choice>& known) {
    Choice choice = known.value_or(Choice());
    choice.answer = to_string(trials.trial_record);
    for (const autotune::ProgramTrial& trial : trials.trials) {
        choice.samples += trial.samples;
        if (!trial.won) continue;
        choice.ratio *= trial.ratio;
        choice.low *= trial.low;
        choice.high *= trial.high;
    }
    return choice;
}

}  // namespace

std::vector<ProgramTrial> apply_program_trials(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                               selection::Selections& covers, const Context& context,
                                               const CompileOptions& options, const selection::Options& select_options,
                                               double seconds) {
    const selection::CostModel& costs = stages.costs();
    if (costs.timings == nullptr || !select_options.search || has_memory_limit(options)) return {};
    const TimingEnvironment& environment = selection::environment_of_programs(costs);
    const std::vector<selection::Bucket> seen = selection_buckets(buckets);
    const std::string question = "programs for " + to_string(autotune::name_of(seen, select_options));
    std::optional<Choice> known = costs.timings->find_choice(question, environment, costs.policy);
    std::optional<autotune::TrialRecord> trial_record =
        known ? autotune::parse_trial_record(known->answer) : std::nullopt;
    const autotune::Effort effort = autotune::effort_of(options.mode);
    const bool may_run = autotune::measures(options.mode) && options.run_program_trials;
    // The cover that sums of kernel times choose now has not been in a trial: times were measured since.
    if (may_run && trial_record && !autotune::is_known(*trial_record, autotune::name_of(seen, covers, select_options)))
        known.reset(), trial_record.reset();
    const bool is_complete =
        trial_record && trial_record->complete && (trial_record->is_thorough || !effort.exhaustive);
    if (trial_record && (is_complete || !may_run)) {
        std::optional<selection::Selections> best = autotune::best_of(*trial_record, covers, seen, select_options);
        if (!best || trial_record->terms == selection::CoverConstraints()) return {};
        covers = *std::move(best);
        return {recorded_trial(*known, *trial_record)};
    }
    if (!may_run || context.impl()->has_lost_device()) return {};

    const CompileOptions unseen = without_diagnostics(options);
    const auto make_program = [&](std::size_t bucket, const selection::Selection& cover) {
        StageDriver driver(unseen, "");
        return stages.program_of(buckets[bucket], cover, driver);
    };
    if (!effort.runs_program_trials) seconds = 0;
    const autotune::Clock::time_point end = autotune::time_point_after(seconds);
    const auto run_paired_trial = [&](const selection::Selections& best, const selection::Selections& challenger,
                                      double most, std::uint64_t seed) {
        const autotune::PairedTrial paired_trial(seen, best, challenger, make_program, select_options);
        return paired_trial.fit_in_memory(context) ? paired_trial.run(context, most, seed, end)
                                                   : autotune::EliminationResult();
    };
    autotune::ProgramTrialsOutcome trials =
        autotune::run_program_trials(std::move(covers), seen, run_paired_trial, select_options,
                                     {seconds, options.progress, options.stop, autotune::usual_hang_seconds, effort},
                                     stages.unmeasured_plan(), trial_record);
    covers = std::move(trials.covers);
    // Challengers that could not run for this reason are not worse.
    if (context.impl()->has_lost_device()) return {};
    if (!trials.trials.empty() || trials.trial_record.terms != selection::CoverConstraints())
        context.impl()->timings->record_choice(question, environment, costs.policy, answer_of(trials, known));
    std::vector<ProgramTrial> all;
    const autotune::TrialRecord& trial_record_now = trials.trial_record;
    const bool has_won =
        std::any_of(trials.trials.begin(), trials.trials.end(), [](const auto& trial) { return trial.won; });
    // The winner of an earlier compile, or the cover that is kept because no trial was decisive.
    if (!has_won && trial_record_now.terms != selection::CoverConstraints())
        all.push_back(known && trial_record ? recorded_trial(*known, trial_record_now)
                                            : recorded_trial(Choice(), trial_record_now));
    for (const autotune::ProgramTrial& trial : trials.trials)
        all.push_back({kind_names(trial.terms.without), !trial.terms.only.empty(), trial.expected, trial.ratio,
                       trial.low, trial.high, trial.samples, trial.won});
    return all;
}

}  // namespace cairn::driver
