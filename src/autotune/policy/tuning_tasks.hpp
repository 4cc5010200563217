#pragma once

#include "autotune/measurement/benchmark.hpp"
#include "selection/choose/select.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

/// What is to be measured next.
namespace cairn::autotune {

/// A kernel and a Problem of constant sizes of which something is unknown.
struct CandidateCall {
    Problem problem;
    const Kernel* kernel;
    bool chosen = false;                   ///< else a rival of one that is
    bool time = false;                     ///< is unknown
    std::optional<Problem> compared = {};  ///< where its error is unknown: what is to be run for it
    double promised = 0;
};

/// Calls that make the same value at the same sizes: the first is chosen and unknown, the others may be faster.
struct TuningTask {
    std::size_t bucket = 0;
    double runs = 0;            ///< how often the plan makes the first call, weighted: a mean over the bucket's sizes
    double potential_gain = 0;  ///< weighted seconds by which a program may change
    std::vector<CandidateCall> calls;
};

/// How often one call of a choice counts, beside those of other sizes; what is done once counts little.
double runs_of(const selection::Bucket& bucket, const selection::Choice& choice);
/// Adds a call, unless it is there.
void add_call(TuningTask& task, const Kernel& kernel, Problem sized, bool chosen);
/// Largest stake first in each bucket, a bucket after another.
std::vector<TuningTask> interleaved_by_bucket(std::vector<std::vector<TuningTask>> buckets);

/// Of the chosen candidates those whose time is unknown, or whose error is and was not `tried` yet, and all that make
/// the same. The buckets take turns, in each the largest stake first, so that time that runs out is missed by all
/// alike.
std::vector<TuningTask> unmeasured_tasks(std::span<const selection::Bucket> buckets,
                                         const selection::Selections& selections, const selection::CostModel& costs,
                                         std::span<const Definition> definitions, const std::set<std::string>& tried);

/// Of rivals those whose time is still unknown and that may be faster than all others, the likeliest first. Those
/// chosen are among them in any case.
struct CandidateSet {
    std::vector<autotune::BenchmarkCandidate> candidates;
    double incumbent_seconds = 0;  ///< the least time known among them; endless where there is none
};
CandidateSet candidates_of(const TuningTask& task, const selection::CostModel& costs);

/// The calls of what was chosen, by their names (selection::call_key).
std::set<std::string> calls_of(std::span<const selection::Bucket> buckets, const selection::Selections& selections);

/// What the measured times among those that kernels were asked about show of their siblings.
struct LearnedEstimates {
    selection::TimingTransfer own;  ///< of times of this machine
    selection::TimingTransfer all;  ///< and of others'; empty where there are none
    double time_scale = 1;          ///< see selection::CostModel
};
LearnedEstimates learned_from(std::span<const selection::Bucket> buckets, const selection::CostModel& costs);
/// Counting with it.
selection::CostModel with_learned(selection::CostModel costs, LearnedEstimates learned);

}  // namespace cairn::autotune
