#pragma once

#include "autotune/measurement/team_clock.hpp"
#include "cairn/compile.hpp"

#include <cstddef>

/// What the modes of a compile spend on measuring.
namespace cairn::autotune {

/// How much is measured, and how well; by default that of Mode::normal.
struct Effort {
    bool only_costly = false;  ///< only calls of the plan in hand that cost much and are in doubt (doubt.hpp)
    bool exhaustive = false;   ///< after the best paths all that could do any part of the graph (everything.hpp)
    bool is_coarse = false;    ///< times are recorded as autotune::coarse_quality
    int least_quality = 1;     ///< times of a lower one are taken again where they may change the choice
    // Of races of kernels (autotune/measurement/successive_elimination.hpp).
    double most_seconds = 1, indifference = 0.01, least_noise = 0.01;
    int max_rounds = 3, least_blocks = 3;
    // Of whole programs: rivals that one is run beside, what these may cost more by sums, and what a kind of call must
    // take, both as a part of the whole.
    bool runs_program_trials = true;
    std::size_t max_challengers = 8;
    double max_extra_cost = 0.05, min_call_share = 0.01;
    // Seconds of one race and of all, and the pairs of runs that the first must have room for: fewer tell nothing. Of
    // the plan made without measuring few tell whether tuning has harmed.
    double max_trial_seconds = 3, max_total_trial_seconds = 6;
    int min_pairs = 8, min_pairs_of_plan = 4;
};

Effort effort_of(Mode mode);

/// Whether anything is measured.
bool measures(Mode mode);
/// The budget given, or that of the mode.
double seconds_of(const CompileOptions& options);

}  // namespace cairn::autotune
