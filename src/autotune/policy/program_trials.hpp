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

/// Whole programs against each other: a sum of kernel times is not the time of a program.
namespace cairn::autotune {

/// Covers that were run beside the best so far.
struct ProgramTrial {
    selection::CoverConstraints terms;    ///< on which these cost least
    double expected = 0;                  ///< how much longer they take by sums, as a part of all that covers take
    double ratio = 1, low = 1, high = 1;  ///< their time by that of the best so far, and the interval it lies in; of
                                          ///< the buckets in which they differ
    int samples = 0;                      ///< blocks that each was timed in
    bool won = false;
};

struct ProgramTrialsOutcome {
    selection::Selections covers;  ///< that won
    TrialRecord trial_record;
    std::vector<ProgramTrial> trials;  ///< in their order
};

/// Races the programs of two covers, the best so far (0) and a rival (1), for so many seconds; without a winner where
/// they cannot be run. `seed`: each race of the same two has another one.
using RunPairedTrial = std::function<autotune::EliminationResult(
    const selection::Selections& best, const selection::Selections& challenger, double seconds, std::uint64_t seed)>;

/// Runs covers beside their rivals. The first one asks for what `plan` asks for and nothing else, the kinds of a
/// plan made without measuring (where there are any): it wins unless it is clearly slower in each of two races, so that
/// a tuned program is not slower than that one; where no race of it can be held, it is taken unless it costs half as
/// much again by sums. The others do without one kind of call that takes a part of the time or more
/// (Effort::min_call_share), where that costs little more by sums (Effort::max_extra_cost), and win where they are
/// clearly faster in each of two races. Whoever wins has rivals of its own, but for the plan, until none of them wins,
/// or the budget or Effort::max_total_trial_seconds is spent: no race begins that, by the last one, there is no time to
/// make the programs for. Rivals that cannot be run are passed over, and those that run for so long that a race of them
/// would tell nothing (Effort::min_pairs). Throws Cancelled.
ProgramTrialsOutcome run_program_trials(selection::Selections chosen, std::span<const selection::Bucket> buckets,
                                        const RunPairedTrial& run_paired_trial, const selection::Options& options,
                                        const Budget& budget, const std::vector<selection::CallKind>& plan,
                                        const std::optional<TrialRecord>& so_far = std::nullopt);

}  // namespace cairn::autotune
