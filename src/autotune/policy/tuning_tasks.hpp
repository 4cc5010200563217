#pragma once

#include "autotune/measurement/benchmark.hpp"
#include "selection/choose/select.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

/// Tuning tasks: what is to be measured next.
namespace cairn::autotune {

/// A kernel and a Problem of constant sizes whose time or error is unknown.
struct CandidateCall {
    Problem problem;
    const Kernel* kernel;
    bool chosen = false;                   ///< false: an alternative of a chosen call
    bool time = false;                     ///< its time is unknown
    std::optional<Problem> compared = {};  ///< if its error is unknown: the problem to run for it
    double promised = 0;
};

/// Calls that compute the same value at the same sizes: the first is chosen and unmeasured, the others may be faster.
struct TuningTask {
    std::size_t bucket = 0;
    double runs = 0;            ///< how often the plan makes the first call, weighted: a mean over the bucket's sizes
    double potential_gain = 0;  ///< weighted seconds by which a program may change
    std::vector<CandidateCall> calls;
};

/// Weight of one call of a choice, divided among the bucket's representative sizes; calls that run once, at bind, have
/// a small weight.
double runs_of(const selection::Bucket& bucket, const selection::Choice& choice);
/// Adds a call unless the task has it.
void add_call(TuningTask& task, const Kernel& kernel, Problem sized, bool chosen);
/// Sorts each bucket by descending potential gain and interleaves the buckets.
std::vector<TuningTask> interleaved_by_bucket(std::vector<std::vector<TuningTask>> buckets);

/// Tasks for the chosen candidates whose time is unknown, or whose error is unknown and not in `tried`, with all calls
/// that compute the same value. The buckets are interleaved, each by descending potential gain, so that all lack
/// measurements alike if time runs out.
std::vector<TuningTask> unmeasured_tasks(std::span<const selection::Bucket> buckets,
                                         const selection::Selections& selections, const selection::CostModel& costs,
                                         std::span<const Definition> definitions, const std::set<std::string>& tried);

/// The calls of a task whose time is unknown and that may be faster than all others, by ascending estimate. Chosen
/// calls are always included.
struct CandidateSet {
    std::vector<autotune::BenchmarkCandidate> candidates;
    double incumbent_seconds = 0;  ///< the least known time of the task's calls; infinite if there is none
};
CandidateSet candidates_of(const TuningTask& task, const selection::CostModel& costs);

/// The calls of a selection, by their keys (selection::call_key).
std::set<std::string> calls_of(std::span<const selection::Bucket> buckets, const selection::Selections& selections);

/// Estimates learned from the measured times of the kernels that were queried.
struct LearnedEstimates {
    selection::TimingTransfer own;  ///< from times of this machine
    selection::TimingTransfer all;  ///< from those and times of other machines; empty if there are none of others
    double time_scale = 1;          ///< see selection::CostModel
};
LearnedEstimates learned_from(std::span<const selection::Bucket> buckets, const selection::CostModel& costs);
/// The cost model with these estimates.
selection::CostModel with_learned(selection::CostModel costs, LearnedEstimates learned);

}  // namespace cairn::autotune
