#pragma once

#include "cairn/timing_db.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

/// Successive elimination: finds the fastest of several candidates in as little time as the decision needs. Independent
/// of kernels, threads and clocks.
namespace cairn::autotune {

struct EliminationOptions {
    double seconds = 0.25;        ///< limit for all timed runs together
    double confidence = 0.95;     ///< of the confidence intervals of ratios
    double indifference = 0.005;  ///< a relative gain that is not worth more timing
    double noise = 0.02;          ///< relative, of one block: prior for the spread while there are few blocks
    double block_seconds = 4e-5;  ///< a block has as many runs as take this long
    int max_rounds = 6;           ///< of 1, 2, 4, ... blocks each
    int min_blocks = 3;           ///< of the winner
    double incumbent_seconds = std::numeric_limits<double>::infinity();  ///< best time of a run known before
    std::uint64_t seed = 1;                                              ///< of the random order within a repetition
};

/// Returns the seconds of `inner` consecutive runs of a candidate.
using TimeBlock = std::function<double(int candidate, std::int64_t inner)>;

/// How the elimination ended for a candidate.
enum class CandidateStatus : std::uint8_t {
    remaining,    ///< not eliminated: the winner, and candidates that could not be distinguished from it
    slower,       ///< it is slower than the winner
    indifferent,  ///< its possible gain over the winner is not worth more timing
    untimed,      ///< the budget ended before its first block
};

struct CandidateResult {
    /// Of its blocks. Without any: `censored`, at the time of its first run, which is not counted, or at 0.
    Timing timing;
    CandidateStatus status = CandidateStatus::untimed;
    /// Its time divided by the winner's, over the blocks that both were timed in, and the confidence interval.
    double ratio = 1, low = 1, high = 1;
};

struct EliminationResult {
    int winner = -1;  ///< -1: no candidate was timed
    std::vector<CandidateResult> candidates;
    bool decided = false;      ///< all others are shown to be slower
    double expected_loss = 0;  ///< relative: mean gain of a better choice than the winner
    double seconds = 0;        ///< total of the runs
};

/// Each candidate first runs once untimed, then rounds double the number of blocks. A repetition times one block of
/// each remaining candidate, in random order, so that drift and disturbances affect all alike: candidates are compared
/// by the median of the ratios of such blocks, which a few disturbed blocks do not move. After each round the clearly
/// slower candidates are eliminated, and those whose possible gain is too small; the rest ends as a paired final. A
/// winner without competitors is timed for as many blocks as requested. If the budget ends, the winner is the best so
/// far. Candidates are ranked by the median time, never the mean. Exceptions of `time` pass through.
///
///     elimination(2, [&](int e, std::int64_t n) { return n * (e == 0 ? 2e-3 : 1e-3); }, {})  ->  winner 1, decided
EliminationResult elimination(int candidates, const TimeBlock& time, const EliminationOptions& options);

}  // namespace cairn::autotune
