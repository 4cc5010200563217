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

/// What seeds tell of other machines: what kernels are expected to take on this one. They are never what was measured
/// here.
///
/// A time there is carried over by what bounds the call, here and there (select/roofline): of two kernels that the same
/// thing bounds, the faster there is the faster here. Where this machine's limits are not known they are taken to be
/// those of the nearest environment (autotune::environment_distance), so that a kernel with a time there and one
/// without are still counted alike.
class Priors {
public:
    /// Reads all times that `timings` has in seeds of environments near to this one, for its policy at their numbers of
    /// threads.
    Priors(const TimingDb& timings, const TimingEnvironment& here, const TimingPolicy& policy, const KernelSet& kernels,
           FeatureSet features);

    /// False where seeds tell of this environment alone, or of none like it.
    bool empty() const noexcept { return prior_environments_.empty(); }
    /// The nearest environment's limits, with the features in use here.
    const Calibration& machine() const noexcept { return machine_; }
    /// What times there show of kernels at other sizes.
    const TimingTransfer& timing_transfer() const noexcept { return timing_transfer_; }
    /// Every environment that seeds tell of, but this one: errors of kernels are the same in all.
    std::span<const TimingEnvironment> environments() const noexcept { return environments_; }

    /// A time of another machine, as it would be here.
    struct ScaledTime {
        double seconds = 0;
        bool at_least = false;                    ///< it was slower than others before it was done
        std::shared_ptr<const std::string> from;  ///< the environment, as people call it
    };
    /// What the nearest environment that has a time of the call, by the kernel's twin with those needs, lets expect.
    std::optional<ScaledTime> find(const Kernel& kernel, FeatureSet needs, std::string_view problem_text,
                                   const Problem& sized, const Cost& cost, const Limits& here) const;
    /// Which environment tells of the kernel at other sizes; null where none does.
    std::shared_ptr<const std::string> other_sizes(const Kernel& kernel) const;

private:
    struct Time {
        double seconds = 0;
        bool at_least = false;
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

    std::vector<PriorEnvironment> prior_environments_;  // the nearest first
    std::vector<TimingEnvironment> environments_;
    Calibration machine_;
    TimingTransfer timing_transfer_;
    std::unordered_map<std::string, std::shared_ptr<const std::string>>
        other_size_priors_;  // by kernel, who told of it
};

}  // namespace cairn::selection
