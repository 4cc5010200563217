#include "pipeline/whole_programs.hpp"

#include "device/context_parts.hpp"
#include "tune/duels.hpp"
#include "tune/effort.hpp"
#include "tune/sides.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace cairn::inline v0 {
namespace {

std::vector<std::string> told(const std::vector<select::Kind>& kinds) {
    std::vector<std::string> lines;
    for (const select::Kind& kind : kinds) lines.push_back(select::to_string(kind));
    return lines;
}

/// What duels of an earlier compile came to, all together.
ExplainedDuel remembered(const Choice& choice, const tune::Standing& standing) {
    return {told(standing.terms.without),
            !standing.terms.only.empty(),
            0,
            choice.ratio,
            choice.low,
            choice.high,
            choice.samples,
            true};
}

/// The answer that is kept: how much faster the best is than what sums would choose.
Choice answer_of(const tune::Duels& duels, const std::optional<Choice>& known) {
    Choice choice = known.value_or(Choice());
    choice.answer = to_string(duels.standing);
    for (const tune::Duel& duel : duels.fought) {
        choice.samples += duel.samples;
        if (!duel.won) continue;
        choice.ratio *= duel.ratio;
        choice.low *= duel.low;
        choice.high *= duel.high;
    }
    return choice;
}

}  // namespace

std::vector<ExplainedDuel> run_beside_rivals(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                             select::Selections& covers, const Context& context,
                                             const CompileOptions& options, const select::Options& select_options,
                                             double seconds) {
    const select::CostSource& costs = stages.costs();
    if (costs.timings == nullptr || !select_options.search || options.memory_limit) return {};
    const TimingEnvironment& environment = select::environment_of_programs(costs);
    const std::vector<select::Bucket> seen = selectable(buckets);
    const std::string question = "programs for " + to_string(tune::name_of(seen, select_options));
    std::optional<Choice> known = costs.timings->find_choice(question, environment, costs.policy);
    std::optional<tune::Standing> standing = known ? tune::parse_standing(known->answer) : std::nullopt;
    const tune::Effort effort = tune::effort_of(options.mode);
    const bool may_run = tune::measures(options.mode) && options.run_rivals;
    // What sums choose by what was measured since has not been run beside anything.
    if (may_run && standing && !tune::is_known(*standing, tune::name_of(seen, covers, select_options)))
        known.reset(), standing.reset();
    const bool is_complete = standing && standing->complete && (standing->is_thorough || !effort.everything);
    if (standing && (is_complete || !may_run)) {
        std::optional<select::Selections> best = tune::best_of(*standing, covers, seen, select_options);
        if (!best || standing->terms == select::Terms()) return {};
        covers = *std::move(best);
        return {remembered(*known, *standing)};
    }
    if (!may_run) return {};

    const CompileOptions unseen = quiet(options);
    const auto make_program = [&](std::size_t bucket, const select::Selection& cover) {
        StageDriver driver(unseen, "");
        return stages.program_of(buckets[bucket], cover, driver);
    };
    if (!effort.runs_programs) seconds = 0;
    const timing::Clock::time_point end = timing::after(seconds);
    const auto run_beside = [&](const select::Selections& best, const select::Selections& rival, double most,
                                std::uint64_t seed) {
        const tune::Sides sides(seen, best, rival, make_program, select_options);
        return sides.fit_in_memory() ? sides.race(context, most, seed, end) : timing::RaceResult();
    };
    tune::Duels duels = tune::fight(std::move(covers), seen, run_beside, select_options,
                                    {seconds, options.progress, options.stop, tune::usual_hang_seconds, effort},
                                    stages.unmeasured_plan(), standing);
    covers = std::move(duels.covers);
    if (!duels.fought.empty() || duels.standing.terms != select::Terms())
        context.parts()->timings->record_choice(question, environment, costs.policy, answer_of(duels, known));
    std::vector<ExplainedDuel> all;
    const tune::Standing& standing_now = duels.standing;
    const bool has_won =
        std::any_of(duels.fought.begin(), duels.fought.end(), [](const auto& duel) { return duel.won; });
    // What won in an earlier compile, or is kept since nothing is decided.
    if (!has_won && standing_now.terms != select::Terms())
        all.push_back(known && standing ? remembered(*known, standing_now) : remembered(Choice(), standing_now));
    for (const tune::Duel& duel : duels.fought)
        all.push_back({told(duel.terms.without), !duel.terms.only.empty(), duel.expected, duel.ratio, duel.low,
                       duel.high, duel.samples, duel.won});
    return all;
}

}  // namespace cairn::inline v0
