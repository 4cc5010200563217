#include "autotune/policy/effort.hpp"

namespace cairn::autotune {

Effort effort_of(Mode mode) {
    Effort effort;
    if (mode == Mode::quick) {
        effort.only_costly = effort.is_coarse = true;
        effort.min_quality = 0;
        effort.runs_program_trials = false;
        effort.max_seconds = 0.25;
        effort.indifference = effort.min_noise = 0.05;
        effort.max_rounds = effort.min_blocks = 1;
    }
    if (mode == Mode::exhaustive) {
        effort.exhaustive = true;
        effort.max_seconds = 10;
        effort.indifference = 0.005;
        effort.max_rounds = 5;
        effort.min_blocks = 9;
        effort.max_challengers = 32;
        effort.max_extra_cost = 0.15;
        effort.min_call_share = 0.002;
        effort.max_trial_seconds = 10;
        effort.max_total_trial_seconds = max_seconds;
        effort.min_pairs = effort.min_pairs_of_plan = 1;
    }
    return effort;
}

bool measures(Mode mode) { return mode == Mode::quick || mode == Mode::normal || mode == Mode::exhaustive; }

double seconds_of(const CompileOptions& options) {
    constexpr double of_quick = 1, of_normal = 5;
    if (options.tune_seconds) return *options.tune_seconds;
    return options.mode == Mode::exhaustive ? max_seconds : options.mode == Mode::quick ? of_quick : of_normal;
}

}  // namespace cairn::autotune
