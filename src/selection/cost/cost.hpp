#pragma once

#include "cairn/kernel.hpp"
#include "cairn/timing_db.hpp"
#include "cairn/tuning.hpp"
#include "program/lock.hpp"
#include "selection/cost/priors.hpp"
#include "selection/cost/roofline.hpp"
#include "selection/cost/timing_transfer.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// The expected cost of a kernel on a problem: its measured time if there is one, otherwise a roofline estimate. Never
/// unknown, never infinite.
namespace cairn::selection {

struct Estimate {
    double seconds = 0;        ///< the time that selection uses
    double low = 0, high = 0;  ///< bounds of the time; equal to `seconds` if measured
    bool measured = false;
    double error = 0;                              ///< relative, as Kernel::error defines it; 0: exact
    bool error_measured = false;                   ///< otherwise the kernel's promise
    std::string note = {};                         ///< why the kernel's own cost was not used, for explain()
    std::shared_ptr<const std::string> from = {};  ///< another machine that `seconds` are derived from, if any
    /// Additional time of a call in a program against repeated calls alone: its operands lie in caches of other
    /// threads.
    double cross_core_transfer = 0;
    /// The part of `seconds` that is not expected time: a penalty that ranks a call last, or a discount that keeps
    /// potentially fast calls from staying unmeasured.
    double bias = 0;
    std::string failure = {};     ///< why its measurement failed; its time is then unknown
    int failed_at = 0;            ///< index of the size that failed
    bool ranked_last = false;     ///< not measured while others are: taken only if nothing else can be
    bool is_lower_bound = false;  ///< the measurement was censored: `seconds` is a lower bound of the time
    /// Time of the arithmetic alone at its peak rate, and of memory alone; 0 if the machine is not calibrated.
    double arithmetic = 0, memory = 0;
    /// The time of a call, measured or expected: `seconds` without its bias; 0 if a measurement failed.
    double time() const noexcept { return failure.empty() ? seconds - bias : 0; }
};

/// What the times of a device other than the CPU depend on, and where its rates come from.
struct DeviceConditions {
    TimingEnvironment kernels, copies;  ///< of its kernels, and of copies between it and the host
    TimingPolicy policy = {};
    RateSource rates = RateSource::stated;
};

/// The sources of costs and errors; one for a compile.
struct CostModel {
    const TimingDb* timings = nullptr;               ///< none: estimates only
    TimingEnvironment environment;                   ///< of the CPU
    std::map<Device, DeviceConditions> others = {};  ///< of other devices; a missing device has the CPU's
    TimingEnvironment programs = {};                 ///< of programs for several devices; empty: the CPU's
    TimingPolicy policy;                             ///< of the CPU, and of programs
    std::vector<KernelRule> rules = {};              ///< the user's; they override all times
    Calibration machine;                             ///< limits for the roofline
    bool is_calibrated = false;                      ///< `machine` was measured
    std::vector<DeviceRates> devices = {};           ///< rates of other devices
    FeatureSet features = {};                        ///< those in use
    /// Asks for features that a process may use on request only, and returns why they are refused. Null: none are.
    std::function<std::string(FeatureSet)> permit = {};
    /// Smallest quality of a time that counts as measured; a time of lower quality only narrows the estimate.
    int min_quality = 0;
    bool optimistic = false;  ///< use the lower bounds of unknown times, so that potentially fast calls are measured
    std::shared_ptr<const TimingTransfer> timing_transfer =
        {};                                     ///< from times measured here; none: estimates are the roofline's alone
    std::shared_ptr<const Priors> priors = {};  ///< of other machines; none: expected times are the roofline's
    std::shared_ptr<const TimingTransfer> expected = {};  ///< from times of this machine and of others
    double time_scale =
        1;  ///< ratio of times here to those expected of the nearest machine, if this machine's limits are unknown
    /// Calls of the incumbent programs, if any. Measured times then compete with measured times only: of unknown times,
    /// those of incumbent calls count at their lower bounds, so that only surely faster calls replace them, and all
    /// others rank last.
    std::shared_ptr<const std::set<std::string>> incumbent_calls = {};
    double tolerance = 0;  ///< kernels with larger errors are refused; 0: all inexact ones
    /// If set, only calls that it names are accepted, at the cost that it records.
    std::shared_ptr<const program::Lock> lock = {};
};

/// The environment that a time of the kernel measured now belongs to, and how it is measured.
const TimingEnvironment& environment_of(const Kernel& kernel, const CostModel& model);
const TimingPolicy& policy_of(const Kernel& kernel, const CostModel& model);
/// The environment that the time of a program belongs to; a program may call kernels of any device.
const TimingEnvironment& environment_of_programs(const CostModel& model);

/// The sizes at which the programs of a bucket are costed, each a value for every symbol: the geometric middles of the
/// lower, middle and upper third of the symbols' ranges, all symbols moving together. If no range more than doubles:
/// the middle of the whole range only.
///
///     T in 1..64   ->   {2}, {8}, {32}
std::vector<std::vector<std::int64_t>> representative_sizes(const Symbols& symbols);

/// The price of a byte kept in the memory of a device, relative to one in the memory of the host: prices are times in
/// which the byte is read a few times, and devices read faster than one core of the CPU.
double kept_byte_price(Device device, const CostModel& model);

/// A problem at constant sizes, and its text, the key of its timings; formatted once for all kernels.
class SizedProblem {
public:
    SizedProblem(Problem problem = {}) : problem_(std::move(problem)) {}
    const Problem& operator*() const noexcept { return problem_; }
    const std::string& text() const;

private:
    Problem problem_;
    mutable std::string text_;
};

/// The key of a call's time: kernel and problem, as text.
std::string call_key(const Kernel& kernel, const SizedProblem& sized);

/// A problem at each of these sizes; equal ones once.
std::vector<SizedProblem> sized_problems_at(const Problem& problem, std::span<const std::vector<std::int64_t>> sizes);

/// Roofline time of a call by this machine's limits. The second uses the limits that expected times are based on: if
/// this machine's are unknown, those of the nearest machine with shipped timings.
double roofline_seconds(const Kernel& kernel, const Problem& sized, const CostModel& model);
double expected_roofline_seconds(const Kernel& kernel, const Problem& sized, const CostModel& model);

/// The expected time here by a measurement of the same call on another machine, if there is one.
std::optional<double> scaled_prior_seconds(const Kernel& kernel, const SizedProblem& problem, const CostModel& model);

/// The largest measured error of a call. Errors do not depend on the machine: those measured elsewhere count if there
/// are none from here.
std::optional<ErrorMeasurement> measured_error(const Problem& sized, const Kernel& kernel, const CostModel& model);
/// See TimingDb::find_error_violation; searched here and elsewhere.
std::optional<ErrorMeasurement> find_error_violation(const Problem& sized, const Kernel& kernel,
                                                     const CostModel& model);

/// The cost of one call at constant sizes: measured, or expected by priors of other machines, or the roofline's
/// corrected by timing transfer. If the kernel's own cost is invalid (not a number, negative, infinite, or above the
/// machine's peak), the default cost replaces it, and `note` says so. A censored measurement counts as its bound, a
/// failed one as more than a second: any kernel that runs is preferred.
Estimate estimate(const Kernel& kernel, const SizedProblem& problem, const CostModel& model);

/// The mean over a problem at several sizes, measured if all of them are, with the cross-core transfer in a program.
Estimate mean_estimate(const Kernel& kernel, std::span<const SizedProblem> sized, const CostModel& model);

}  // namespace cairn::selection
