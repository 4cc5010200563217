#pragma once

#include "cairn/compile.hpp"
#include "timing/team_clock.hpp"

#include <cstddef>

/// What the modes of a compile spend on measuring.
namespace cairn::inline v0::tune {

/// How much is measured, and how well; by default that of Mode::normal.
struct Effort {
    bool only_costly = false;  ///< only calls of the plan in hand that cost much and are in doubt (doubt.hpp)
    bool everything = false;   ///< after the best paths all that could do any part of the graph (everything.hpp)
    bool is_coarse = false;    ///< times are recorded as timing::coarse_quality
    int least_quality = 1;     ///< times of a lower one are taken again where they may change the choice
    // Of races of kernels (timing/race.hpp).
    double most_seconds = 1, indifference = 0.01, least_noise = 0.01;
    int max_rounds = 3, least_blocks = 3;
    // Of whole programs: rivals that one is run beside, what these may cost more by sums, and what a kind of call must
    // take, both as a part of the whole.
    bool runs_programs = true;
    std::size_t most_rivals = 8;
    double most_more = 0.05, least_share = 0.01;
    // Seconds of one race and of all, and the pairs of runs that the first must have room for: fewer tell nothing. Of
    // the plan made without measuring few tell whether tuning has harmed.
    double longest_race = 3, most_program_seconds = 6;
    int least_pairs = 8, least_pairs_of_plan = 4;
};

Effort effort_of(Mode mode);

constexpr double most_seconds = timing::most_seconds;  ///< that a budget may have

/// Whether anything is measured.
bool measures(Mode mode);
/// The budget given, or that of the mode.
double seconds_of(const CompileOptions& options);

}  // namespace cairn::inline v0::tune
