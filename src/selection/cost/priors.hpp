#pragma once

#include "cairn/timing_db.hpp"
#include "selection/cost/roofline.hpp"
#include "selection/cost/timing_transfer.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::selection {

/// Priors: the times of kernels expected on this machine by shipped timings of others. They are never measurements.
///
/// A time is scaled by the ratio of the roofline here to the roofline there (cost/roofline.hpp): of two kernels with
/// the same bound, the one that is faster there is faster here. If this machine's limits are unknown, those of the
/// nearest environment (autotune::environment_distance) are used, so that kernels with and without a time there are
/// treated alike.
class Priors {
public:
    /// Reads the shipped timings of the environments nearest to this one, for its policy at their numbers of threads.
    Priors(const TimingDb& timings, const TimingEnvironment& here, const TimingPolicy& policy, const KernelSet& kernels,
           FeatureSet features);

    /// True if shipped timings are of this environment alone, or of no comparable one.
    bool empty() const noexcept { return prior_environments_.empty(); }
    /// The limits of the nearest environment, with the features in use here.
    const Calibration& machine() const noexcept { return machine_; }
    /// Timing transfer from those times to other sizes.
    const TimingTransfer& timing_transfer() const noexcept { return timing_transfer_; }
    /// All environments with shipped timings but this one: errors of kernels are the same in all.
    std::span<const TimingEnvironment> environments() const noexcept { return environments_; }

    /// A time of another machine, scaled to this one.
    struct ScaledTime {
        double seconds = 0;
        bool is_lower_bound = false;              ///< it was censored there: a lower bound
        std::shared_ptr<const std::string> from;  ///< readable name of the environment
    };
    /// The scaled time of the call, or of the kernel's ISA variant with these needs, from the nearest environment that
    /// has one.
    std::optional<ScaledTime> find(const Kernel& kernel, FeatureSet needs, std::string_view problem_text,
                                   const Problem& sized, const Cost& cost, const Limits& here) const;
    /// The environment with times of the kernel at other sizes; null if there is none.
    std::shared_ptr<const std::string> environment_at_other_sizes(const Kernel& kernel) const;

private:
    struct Time {
        double seconds = 0;
        bool is_lower_bound = false;
    };
    /// An environment, and its times by kernel and problem.
    struct PriorEnvironment {
        std::shared_ptr<const std::string> name;
        FeatureSet features;
        Calibration machine;
        std::unordered_map<std::string, Time> times;
    };
    void fit_timing_transfer(const PriorEnvironment& prior, const std::vector<ShippedTiming>& times,
                             const KernelSet& kernels);

    std::vector<PriorEnvironment> prior_environments_;  // nearest first
    std::vector<TimingEnvironment> environments_;
    Calibration machine_;
    TimingTransfer timing_transfer_;
    std::unordered_map<std::string, std::shared_ptr<const std::string>>
        other_size_priors_;  // by kernel: the environment they are from
};

}  // namespace cairn::selection
