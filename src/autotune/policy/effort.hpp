#pragma once

#include "autotune/measurement/clock.hpp"
#include "cairn/compile.hpp"

#include <cstddef>

/// Measurement effort of the compile modes.
namespace cairn::autotune {

/// How much is measured, and how precisely. The defaults are those of Mode::normal.
struct Effort {
    bool only_costly = false;  ///< only costly calls of the plan whose kernel is uncertain (task_priority.hpp)
    bool exhaustive = false;   ///< after the best paths also every candidate of every goal (exhaustive_tasks.hpp)
    bool is_coarse = false;    ///< times are recorded with autotune::coarse_quality
    int min_quality = 1;       ///< times of lower quality are taken again where they may change the choice
    // Benchmarks of kernels (autotune/measurement/successive_elimination.hpp).
    double max_seconds = 1, indifference = 0.01, min_noise = 0.01;
    int max_rounds = 3, min_blocks = 3;
    // Trials of whole programs: the number of challengers, their largest extra cost by summed times, and the least time
    // of a call kind that a challenger avoids, both as a fraction of the whole.
    bool runs_program_trials = true;
    std::size_t max_challengers = 8;
    double max_extra_cost = 0.05, min_call_share = 0.01;
    // Limits of one trial and of all, in seconds, and the number of pairs of runs for which one trial must have room:
    // fewer are inconclusive. For the plan made without measuring a few show whether tuning has made the program
    // slower.
    double max_trial_seconds = 3, max_total_trial_seconds = 6;
    int min_pairs = 8, min_pairs_of_plan = 4;
};

Effort effort_of(Mode mode);

/// True if the mode measures anything.
bool measures(Mode mode);
/// The tuning budget in seconds: as given, or that of the mode.
double seconds_of(const CompileOptions& options);

}  // namespace cairn::autotune
