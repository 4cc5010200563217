#pragma once

#include "cairn/timing_db.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

/// Which of several things that can be timed is fastest, in as little time as that takes to tell. Knows no kernel, no
/// thread and no clock.
namespace cairn::autotune {

struct EliminationOptions {
    double seconds = 0.25;        ///< what all timed runs may take together
    double confidence = 0.95;     ///< of the intervals of ratios
    double indifference = 0.005;  ///< a relative gain that is not worth more timing
    double noise = 0.02;          ///< relative, of one block: what the spread of few blocks is taken for
    double block_seconds = 4e-5;  ///< a block has as many runs as last this long
    int max_rounds = 6;           ///< of 1, 2, 4, ... blocks each
    int least_blocks = 3;         ///< of the winner
    double incumbent_seconds = std::numeric_limits<double>::infinity();  ///< seconds of a run that are reached already
    std::uint64_t seed = 1;                                              ///< of the order within a round
};

/// Seconds that `inner` runs of an entrant take, one right after another.
using TimeBlock = std::function<double(int candidate, std::int64_t inner)>;

/// How an entrant left the race.
enum class CandidateStatus : std::uint8_t {
    remaining,    ///< it did not leave: the winner, and whoever could not be told from it
    slower,       ///< it is slower than the winner
    indifferent,  ///< what it could gain over the winner is not worth the time to tell
    untimed,      ///< time ran out before its first block
};

struct CandidateResult {
    /// Of its blocks; without any: `censored`, at the time of its first run, which is not counted, or at 0.
    Timing timing;
    CandidateStatus status = CandidateStatus::untimed;
    /// Its time by the winner's, over the blocks that both were timed in, and the interval this lies in.
    double ratio = 1, low = 1, high = 1;
};

struct EliminationResult {
    int winner = -1;  ///< -1: no entrant was timed
    std::vector<CandidateResult> candidates;
    bool decided = false;      ///< all others lost
    double expected_loss = 0;  ///< relative: what a better choice than the winner would gain on average
    double seconds = 0;        ///< that the runs took together
};

/// Each entrant runs once untimed, then rounds double their blocks. In a repetition each of those still racing is timed
/// for one block, in random order, so that whatever drifts or disturbs hits all alike: entrants are compared by the
/// ratios of such blocks, whose median a few disturbed blocks do not move. After each round the clearly slower ones
/// leave, and those that could gain too little to matter; the rest ends as a paired final. A winner without rivals is
/// timed on for as many blocks as are asked for. Any time the budget ends, the winner is the best so far. The median
/// time ranks, never the mean. What `time` throws passes through.
///
///     race(2, [&](int e, std::int64_t n) { return n * (e == 0 ? 2e-3 : 1e-3); }, {})  ->  winner 1, decided
EliminationResult elimination(int candidates, const TimeBlock& time, const EliminationOptions& options);

}  // namespace cairn::autotune
