#pragma once

#include "select/select.hpp"
#include "timing/contest.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

/// What is to be measured next.
namespace cairn::inline v0::tune {

/// A kernel and a Problem of constant sizes of which something is unknown.
struct Call {
    Problem problem;
    const Kernel* kernel;
    bool chosen = false;                   ///< else a rival of one that is
    bool time = false;                     ///< is unknown
    std::optional<Problem> compared = {};  ///< where its error is unknown: what is to be run for it
    double promised = 0;
};

/// Calls that make the same value at the same sizes: the first is chosen and unknown, the others may be faster.
struct Rivals {
    std::size_t bucket = 0;
    double runs = 0;      ///< how often the plan makes the first call, weighted: a mean over the bucket's sizes
    double at_stake = 0;  ///< weighted seconds by which a program may change
    std::vector<Call> calls;
};

/// How often one call of a choice counts, beside those of other sizes; what is done once counts little.
double runs_of(const select::Bucket& bucket, const select::Choice& choice);
/// Adds a call, unless it is there.
void add_call(Rivals& rivals, const Kernel& kernel, Problem sized, bool chosen);
/// Largest stake first in each bucket, a bucket after another.
std::vector<Rivals> in_turns(std::vector<std::vector<Rivals>> buckets);

/// Of the chosen candidates those whose time is unknown, or whose error is and was not `tried` yet, and all that make
/// the same. The buckets take turns, in each the largest stake first, so that time that runs out is missed by all
/// alike.
std::vector<Rivals> unknown_rivals(std::span<const select::Bucket> buckets, const select::Selections& selections,
                                   const select::CostSource& costs, std::span<const Definition> definitions,
                                   const std::set<std::string>& tried);

/// Of rivals those whose time is still unknown and that may be faster than all others, the likeliest first. Those
/// chosen are among them in any case.
struct Field {
    std::vector<timing::Contestant> contestants;
    double to_beat = 0;  ///< the least time known among them; endless where there is none
};
Field field_of(const Rivals& rivals, const select::CostSource& costs);

/// The calls of what was chosen, by their names (select::name_of_call).
std::set<std::string> calls_of(std::span<const select::Bucket> buckets, const select::Selections& selections);

/// What the measured times among those that kernels were asked about show of their siblings.
struct Shown {
    select::Siblings own;  ///< of times of this machine
    select::Siblings all;  ///< and of others'; empty where there are none
    double pace = 1;       ///< see select::CostSource
};
Shown shown_by(std::span<const select::Bucket> buckets, const select::CostSource& costs);
/// Counting with it.
select::CostSource with(select::CostSource costs, Shown shown);

}  // namespace cairn::inline v0::tune
