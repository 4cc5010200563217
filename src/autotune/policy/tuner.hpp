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

/// The tuner: measures what the best covers need and is not in the timing database, and as much else as a mode asks
/// for.
namespace cairn::autotune {

constexpr double usual_hang_seconds = 10;

struct Budget {
    double seconds = 0;  ///< by the clock of the Measurer
    ProgressSink progress;
    std::stop_token stop;
    double hang_seconds =
        usual_hang_seconds;  ///< a kernel that has not returned after this time is logged and recorded as failed
    Effort effort = {};
};

struct TuningResult {
    int measured = 0;                ///< times measured
    int compared = 0;                ///< errors measured
    int failed = 0;                  ///< kernels that could not be measured; recorded, so that they are not tried again
    bool complete = false;           ///< everything that the effort asks for is measured
    double timed = 0;                ///< seconds of timed kernel runs
    std::vector<TuningPoint> curve;  ///< expected time of the plan during the tune
    std::vector<selection::CallKind> plan;        ///< call kinds of the plan of a compile that measures nothing
    std::optional<selection::Selections> chosen;  ///< settle()
};

/// Measures, in this order:
/// - The unmeasured calls of the plan made without any measurement, and their alternatives, costly and uncertain calls
///   first. With Effort::only_costly these are all, and none if everything in the selection is measured.
/// - The unmeasured calls of the selection with unknown times at their lower bounds, each in a benchmark with its
///   alternatives. Repeats the selection until all of its calls are measured or the budget is spent.
/// - With Effort::exhaustive the exhaustive_tasks(); times whose spread is large are taken once more.
///
/// So a higher effort measures first what a lower one measures. Measured times update the estimates at other sizes. The
/// errors of kernels that state one are measured with their times: a kernel whose error exceeds its statement is
/// refused from then on. Each measurement is stored at once, and disturbed times are taken once more. A kernel that
/// hangs cannot be stopped: a watchdog thread, which lives as long as the tuner, logs and records it, so that the next
/// start does not call it. Afterwards settle() sets the costs of the buckets' candidates.
///
/// Kernels of all devices compete. The code of those that have code is compiled for the alternatives of a call
/// together, with that of the next calls if there is time (candidate_codes.hpp); one that does not compile is recorded
/// as failed, with the compiler's log. If a compilation takes longer than Budget::hang_seconds for each of its texts,
/// those that are needed are logged, and recorded as failed until they are measured. A kernel that makes its device
/// unusable is recorded as failed too; the tune then ends with the device's error, and what was measured stays stored.
TuningResult run_tuner(std::span<const selection::Bucket> buckets, const Context& context,
                       const selection::CostModel& costs, const selection::Options& options, const Budget& budget,
                       const Measurer& measurer);

/// Sets the costs of the candidates from the known times. If these do not cover the whole selection, measured times
/// compete only with measured times: the selection is then the plan of a compile that measures nothing, except where a
/// measured time is less than the measured time or the lower bound of a call of that plan. By the stored times it is
/// never slower than that plan. Returns the selection that select() makes with these costs, if it was computed here.
std::optional<selection::Selections> settle(std::span<const selection::Bucket> buckets,
                                            const selection::CostModel& costs, const selection::Options& options);

}  // namespace cairn::autotune
