#pragma once

#include "autotune/policy/effort.hpp"
#include "autotune/policy/measurer.hpp"
#include "cairn/compiled_graph.hpp"
#include "selection/choose/challenger_covers.hpp"
#include "selection/choose/select.hpp"

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

/// Profile on a miss: measures what the best paths need, and as much else as a mode asks for.
namespace cairn::autotune {

constexpr double usual_hang_seconds = 10;

struct Budget {
    double seconds = 0;  ///< of the bench's clock
    ProgressSink progress;
    std::stop_token stop;
    double hang_seconds =
        usual_hang_seconds;  ///< a kernel that has not returned for so long is told of and recorded as failed
    Effort effort = {};
};

struct TuningResult {
    int measured = 0;                ///< measurements made
    int compared = 0;                ///< errors measured
    int failed = 0;                  ///< kernels that could not be measured; recorded, so that they are not tried again
    bool complete = false;           ///< all that the effort asks for is known
    double timed = 0;                ///< seconds that kernels ran for their times
    std::vector<TuningPoint> curve;  ///< what the plan in hand was expected to take meanwhile
    std::vector<selection::CallKind> plan;        ///< what the runs of a compile that measures nothing call
    std::optional<selection::Selections> chosen;  ///< settle()
};

/// First measures what the plan without any measurement lacks, and what competes with that, calls that cost much and
/// are in doubt in front; with Effort::only_costly these are all, and none where what is chosen is measured. Then
/// chooses with unknown times at their lower bounds, measures what is unknown on the paths found, each in a race with
/// its rivals, and repeats until all of them is measured or the budget is spent. With Effort::everything
/// exhaustive_tasks() follow, and times whose spread is large are taken once more. So what a lower effort measures a
/// higher one measures first. What measured kernels show moves what is expected of them at other sizes. The errors of
/// kernels that state one are measured with their times: whoever is further off than it said is refused from then on.
/// Each measurement is stored as soon as it is made, and times that were disturbed are taken once more. A kernel that
/// hangs cannot be ended: a thread that lives as long as this says so in the log and records it, so that the next start
/// does without. Afterwards the buckets' candidates count as settle() tells.
TuningResult run_tuner(std::span<const selection::Bucket> buckets, const Context& context,
                       const selection::CostModel& costs, const selection::Options& options, const Budget& budget,
                       const Measurer& measurer);

/// Lets the candidates count with what is known. Where that does not cover all of what is chosen, measured times
/// compete with measured times alone: what is chosen then is the plan of a compile that measures nothing, but where
/// measured times are less than what that has measured, or can reach. By the times stored it is never slower than that
/// plan. Returns what select() chooses then, where it was chosen on the way.
std::optional<selection::Selections> settle(std::span<const selection::Bucket> buckets,
                                            const selection::CostModel& costs, const selection::Options& options);

}  // namespace cairn::autotune
