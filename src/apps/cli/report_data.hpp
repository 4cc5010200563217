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

/// A path that was not selected.
struct AlternativePath {
    std::vector<PathStep> steps;  ///< of one bucket
    double seconds = 0;           ///< of a run in that bucket: the sum of its steps' times
    double kept_bytes = 0;        ///< kept in memory permanently by the programs of all buckets
};

/// The data of a report: one compiled graph and a run of it.
struct ReportData {
    std::string graph;                                     ///< its name
    std::vector<std::pair<std::string, std::string>> how;  ///< how it was compiled: `threads`, `2`
    Explanation why;
    std::size_t bucket = 0;                     ///< index in `why` of the bucket of the run
    std::string sizes;                          ///< of the run: `T = 32, past = 0`
    MemoryReport memory;                        ///< at these sizes
    double run_seconds = 0;                     ///< median of several runs
    std::vector<InstructionProfile> profile;    ///< of one more run
    std::map<std::string, std::string> groups;  ///< atomic ops of each problem of `why`, as problem_ops()
    /// The cheapest path that has other steps in that bucket than the selected one and does not cost less by summed
    /// times; none if all have the same steps.
    std::optional<AlternativePath> runner_up;
    /// The cheapest path by summed times of single kernels, if the selected one costs more.
    std::optional<AlternativePath> least_by_sums = {};
    std::string decided_by = {};  ///< why `least_by_sums` was not selected
    std::vector<TunePoint> tuning;

    const ExplainedBucket& run_bucket() const { return why.buckets[bucket]; }
    /// The instructions of a run; those at bind are excluded.
    std::vector<const ExplainedInstruction*> instructions() const;
    /// Profiled seconds of each; 0 if another program ran.
    std::vector<double> seconds() const;
    /// The factor from expected times to times of this run. Expected times are means over the sizes at which the bucket
    /// was estimated, so only their shares of the total can be compared. 1 if nothing is known.
    double expected_scale() const;
};

/// The bucket whose ranges contain these sizes.
std::size_t bucket_at(const Explanation& why, const std::vector<std::pair<std::string, std::int64_t>>& sizes);

/// Runs the compiled graph with the inputs of `options`, and searches for the runner-up.
ReportData collect_report_data(const Graph& graph, const Context& context, const Options& options,
                               CompiledGraph& compiled, Explanation why, std::vector<TunePoint> tuning,
                               const std::stop_token& stop);

}  // namespace cairn::cli
