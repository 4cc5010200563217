#pragma once

#include "apps/cli/options.hpp"
#include "apps/cli/progress.hpp"
#include "cairn/compile.hpp"
#include "cairn/paths.hpp"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cairn::cli {

/// A way that was not taken.
struct AlternativePath {
    std::vector<PathStep> steps;  ///< of one bucket
    double seconds = 0;           ///< of a run there: the sum of its steps' times
    double kept_bytes = 0;        ///< that the programs of all buckets keep in memory for good
};

/// All that is told of one compiled graph and a run of it: what reports are made of.
struct ReportData {
    std::string graph;                                     ///< its name
    std::vector<std::pair<std::string, std::string>> how;  ///< what it was compiled with: `threads`, `2`
    Explanation why;
    std::size_t bucket = 0;                     ///< of `why`, in which the run was
    std::string sizes;                          ///< at which it was run: `T = 32, past = 0`
    MemoryReport memory;                        ///< at these
    double run_seconds = 0;                     ///< the median of some runs
    std::vector<InstructionProfile> profile;    ///< of another one
    std::map<std::string, std::string> groups;  ///< of each problem of `why` the atomic ops in it, as problem_ops()
    /// The cheapest way that has other steps in that bucket than the one taken and costs no less by sums; none where
    /// all have the same.
    std::optional<AlternativePath> runner_up;
    /// The cheapest way of all by sums of single kernels, where the one taken costs more.
    std::optional<AlternativePath> least_by_sums = {};
    std::string decided_by = {};  ///< why that was not taken
    std::vector<TunePoint> tuning;

    const ExplainedBucket& run_bucket() const { return why.buckets[bucket]; }
    /// The instructions of a run, those that are done once left out.
    std::vector<const ExplainedInstruction*> instructions() const;
    /// Of each, as it was profiled; 0 where another program ran.
    std::vector<double> seconds() const;
    /// What makes of expected times those of this run: they are means over the sizes that the bucket is judged at, so
    /// only their shares of the whole can be compared. 1 where nothing is known.
    double expected_scale() const;
};

/// The bucket whose ranges hold these sizes.
std::size_t bucket_at(const Explanation& why, const std::vector<std::pair<std::string, std::int64_t>>& sizes);

/// Runs what was compiled as `options` say, and looks for the runner-up.
ReportData collect_report_data(const Graph& graph, const Context& context, const Options& options,
                               CompiledGraph& compiled, Explanation why, std::vector<TunePoint> tuning,
                               const std::stop_token& stop);

}  // namespace cairn::cli
