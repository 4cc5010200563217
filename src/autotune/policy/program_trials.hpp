#pragma once

#include "autotune/measurement/successive_elimination.hpp"
#include "autotune/policy/trial_record.hpp"
#include "autotune/policy/tuner.hpp"
#include "selection/choose/challenger_covers.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// Trials of whole programs against each other: a sum of kernel times is not the time of a program.
namespace cairn::autotune {

/// The result of a trial of challenger covers against the incumbent.
struct ProgramTrial {
    selection::CoverConstraints terms;    ///< constraints under which the challenger costs least
    double expected = 0;                  ///< by how much they take longer by summed times, relative to the time of the
                                          ///< incumbent
    double ratio = 1, low = 1, high = 1;  ///< their time divided by the incumbent's, with its confidence interval; of
                                          ///< the buckets in which they differ
    int samples = 0;                      ///< blocks timed of each
    bool won = false;
};

struct ProgramTrialsOutcome {
    selection::Selections covers;  ///< the winner
    TrialRecord trial_record;
    std::vector<ProgramTrial> trials;  ///< in the order they were run
};

/// Times two programs in alternation for at most `seconds`: the incumbent (0) and a challenger (1). No winner if one of
/// them cannot run. `seed` differs between trials of the same two.
using RunPairedTrial = std::function<autotune::EliminationResult(
    const selection::Selections& best, const selection::Selections& challenger, double seconds, std::uint64_t seed)>;

/// Runs trials of `chosen` against challengers. The first challenger calls what `plan` calls and nothing else: the call
/// kinds of a plan made without measuring, if there are any. It wins unless it is clearly slower in both of two trials,
/// so that a tuned program is not slower than that plan; if no trial of it can be run, it is taken unless it costs more
/// than half as much again by summed times. Each of the others avoids one call kind that takes at least a given
/// fraction of the time (Effort::min_call_share), provided that this costs little more by summed times
/// (Effort::max_extra_cost); it wins if it is clearly faster in both of two trials. A winner is tried against
/// challengers of its own, the plan excepted, until none of them wins, or the budget or Effort::max_total_trial_seconds
/// is spent: no trial begins if, judging by the last one, there is no time to make its programs. Skips challengers that
/// cannot be run, and those that run for so long that a trial would be inconclusive (Effort::min_pairs). Throws
/// Cancelled.
ProgramTrialsOutcome run_program_trials(selection::Selections chosen, std::span<const selection::Bucket> buckets,
                                        const RunPairedTrial& run_paired_trial, const selection::Options& options,
                                        const Budget& budget, const std::vector<selection::CallKind>& plan,
                                        const std::optional<TrialRecord>& so_far = std::nullopt);

}  // namespace cairn::autotune
