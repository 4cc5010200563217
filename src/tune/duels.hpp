#pragma once

#include "select/rivals.hpp"
#include "timing/race.hpp"
#include "tune/profile.hpp"
#include "tune/standing.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// Whole programs against each other: a sum of kernel times is not the time of a program.
namespace cairn::inline v0::tune {

/// Covers that were run beside the best so far.
struct Duel {
    select::Terms terms;                  ///< on which these cost least
    double expected = 0;                  ///< how much longer they take by sums, as a part of all that covers take
    double ratio = 1, low = 1, high = 1;  ///< their time by that of the best so far, and the interval it lies in; of
                                          ///< the buckets in which they differ
    int samples = 0;                      ///< blocks that each was timed in
    bool won = false;
};

struct Duels {
    select::Selections covers;  ///< that won
    Standing standing;
    std::vector<Duel> fought;  ///< in their order
};

/// Races the programs of two covers, the best so far (0) and a rival (1), for so many seconds; without a winner where
/// they cannot be run. `seed`: each race of the same two has another one.
using RunBeside = std::function<timing::RaceResult(const select::Selections& best, const select::Selections& rival,
                                                   double seconds, std::uint64_t seed)>;

/// Runs covers beside their rivals. The first one asks for what `plan` asks for and nothing else, the kinds of a
/// plan made without measuring (where there are any): it wins unless it is clearly slower in each of two races, so that
/// a tuned program is not slower than that one; where no race of it can be held, it is taken unless it costs half as
/// much again by sums. The others do without one kind of call that takes a part of the time or more
/// (Effort::least_share), where that costs little more by sums (Effort::most_more), and win where they are clearly
/// faster in each of two races. Whoever wins has rivals of its own, but for the plan, until none of them wins, or the
/// budget or Effort::most_program_seconds is spent: no race begins that, by the last one, there is no time to make the
/// programs for. Rivals that cannot be run are passed over, and those that run for so long that a race of them would
/// tell nothing (Effort::least_pairs). Throws Cancelled.
Duels fight(select::Selections chosen, std::span<const select::Bucket> buckets, const RunBeside& run_beside,
            const select::Options& options, const Budget& budget, const std::vector<select::Kind>& plan,
            const std::optional<Standing>& so_far = std::nullopt);

}  // namespace cairn::inline v0::tune
