#pragma once

#include "cairn/kernel.hpp"
#include "cairn/timing_db.hpp"
#include "cairn/tuning.hpp"
#include "program/lock.hpp"
#include "selection/cost/priors.hpp"
#include "selection/cost/roofline.hpp"
#include "selection/cost/timing_transfer.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What a kernel is expected to cost on a problem: measured where a measurement exists, else a roofline estimate. Never
/// unknown, never infinite.
namespace cairn::selection {

struct Estimate {
    double seconds = 0;        ///< what selection counts with
    double low = 0, high = 0;  ///< it is between these; equal to `seconds` when measured
    bool measured = false;
    double error = 0;                              ///< relative, as Kernel::error counts; 0: exact
    bool error_measured = false;                   ///< else it is what the kernel promises
    std::string note = {};                         ///< why the kernel's own cost was not used, for explain()
    std::shared_ptr<const std::string> from = {};  ///< another machine that `seconds` are expected from, if one is
    /// What a call takes more in a program than again and again by itself: its operands lie in caches of other threads.
    double cross_core_transfer = 0;
    /// The part of `seconds` that is no time but what selection adds, so that a call is taken last, or takes off, so
    /// that nothing fast stays unmeasured.
    double bias = 0;
    std::string failure = {};  ///< why a measurement of it failed; then nothing is known of its time
    int failed_at = 0;         ///< of the sizes asked, in their order
    bool ranked_last = false;  ///< not measured while others are: taken only where nothing else can be
    bool at_least = false;     ///< the measurement was cut: `seconds` are its lower bound
    /// What a call takes, as measured or as expected: `seconds` without its bias; 0 where a measurement failed.
    double time() const noexcept { return failure.empty() ? seconds - bias : 0; }
};

/// Where costs and errors come from; one for a compile.
struct CostModel {
    const TimingDb* timings = nullptr;                ///< none: estimates only
    TimingEnvironment environment;                    ///< of the CPU
    std::map<Device, TimingEnvironment> others = {};  ///< of other devices; of one that is missing the CPU's counts
    TimingPolicy policy;
    std::vector<KernelRule> rules = {};     ///< the user's, above all times
    Calibration machine;                    ///< the roofline
    bool is_calibrated = false;             ///< `machine` was measured
    std::vector<DeviceRates> devices = {};  ///< those of other devices
    FeatureSet features = {};               ///< those in use
    /// Times of a lower quality say roughly what a call takes, no more: it counts as not measured.
    int least_quality = 0;
    bool optimistic = false;  ///< count unknown times at their lower bounds, so that nothing fast stays unmeasured
    std::shared_ptr<const TimingTransfer> timing_transfer =
        {};                                     ///< of times measured; none: estimates are the roofline's alone
    std::shared_ptr<const Priors> priors = {};  ///< of other machines; none: what is expected is the roofline's
    std::shared_ptr<const TimingTransfer> expected = {};  ///< of times of this machine and of others
    double time_scale =
        1;  ///< times here by those expected of the nearest machine, where this one's limits are not known
    /// Where there are any: calls of a plan in hand. Then what was measured competes with what was measured: of unknown
    /// times these count at their lower bounds, so that only what is surely faster takes their place, and all others
    /// last.
    std::shared_ptr<const std::set<std::string>> incumbent_calls = {};
    double tolerance = 0;  ///< kernels with larger errors are refused; 0: those with any
    /// Where there is one, only what it names is taken, at the cost it says.
    std::shared_ptr<const program::Lock> lock = {};
};

/// What a time of the kernel measured now belongs to.
const TimingEnvironment& environment_of(const Kernel& kernel, const CostModel& model);
/// What the time of a program does, which may call kernels of any device.
const TimingEnvironment& environment_of_programs(const CostModel& model);

/// The sizes at which the programs of a bucket are judged, each a value for every symbol: the geometric middles of the
/// lower, the middle and the upper third of their ranges, all symbols moving together; where no range more than
/// doubles, that of the whole.
///
///     T in 1..64   ->   {2}, {8}, {32}
std::vector<std::vector<std::int64_t>> representative_sizes(const Symbols& symbols);

/// A problem at constant sizes, and its text, by which timings are found: made once, many kernels are asked.
class SizedProblem {
public:
    SizedProblem(Problem problem = {}) : problem_(std::move(problem)) {}
    const Problem& operator*() const noexcept { return problem_; }
    const std::string& text() const;

private:
    Problem problem_;
    mutable std::string text_;
};

/// What a time was or would be measured of, as text.
std::string call_key(const Kernel& kernel, const SizedProblem& sized);

/// A problem at each of these sizes, those that are equal once.
std::vector<SizedProblem> sized_problems_at(const Problem& problem, std::span<const std::vector<std::int64_t>> sizes);

/// What the roofline says to a call by the machine's limits; the second by those that expectations stand on: where
/// this machine's are not known, the nearest machine's that seeds tell of.
double roofline_seconds(const Kernel& kernel, const Problem& sized, const CostModel& model);
double expected_roofline_seconds(const Kernel& kernel, const Problem& sized, const CostModel& model);

/// What a time of the same call on another machine lets expect here, if there is one.
std::optional<double> scaled_prior_seconds(const Kernel& kernel, const SizedProblem& problem, const CostModel& model);

/// The largest error measured of a call: here or, since it is the same wherever the same kernel runs, elsewhere.
std::optional<ErrorMeasurement> measured_error(const Problem& sized, const Kernel& kernel, const CostModel& model);
/// See TimingDb::find_error_violation: here or elsewhere.
std::optional<ErrorMeasurement> find_error_violation(const Problem& sized, const Kernel& kernel,
                                                     const CostModel& model);

/// Cost of one call at constant sizes: measured, or expected from what seeds tell of other machines, or the roofline's
/// by what siblings have shown. Where the kernel's own
/// cost is no cost (not a number, negative, endless, or at more than the machine's peak), that of a kernel without one
/// is taken, and the note says so. A measurement that was censored counts as its bound, one that failed as more than a
/// second: whatever runs is preferred.
Estimate estimate(const Kernel& kernel, const SizedProblem& problem, const CostModel& model);

/// The mean over a problem at several sizes: measured where all of them are; and what it takes more in a program.
Estimate mean_estimate(const Kernel& kernel, std::span<const SizedProblem> sized, const CostModel& model);

}  // namespace cairn::selection
