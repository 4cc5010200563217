#pragma once

#include "pipeline/stages.hpp"
#include "tune/bench.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {

/// Kernels of invented times, and a clock that only they move. No kernel is run.
class FakeBench {
public:
    /// Times lie between what is the least that `nominal` lets them be and eight times what it expects.
    FakeBench(select::CostSource nominal, std::uint64_t seed);

    double time_of(const Kernel& kernel, const Problem& problem);
    tune::Bench bench();
    double now() const { return now_; }
    int contests() const { return contests_; }
    /// How often each call was timed, by select::name_of_call.
    const std::map<std::string, int>& measured() const { return measured_; }
    /// From here on every other block of a call takes this much longer, where `is_uneven` says so of its name.
    void disturb(double longer, std::function<bool(const std::string& name)> is_uneven) {
        longer_ = longer;
        is_uneven_ = std::move(is_uneven);
    }
    /// Called before each contest, with the number of those before.
    std::function<void(int)> before_contest;

private:
    timing::ContestResult contest(std::span<const timing::Contestant> contestants,
                                  const timing::ContestOptions& options);

    select::CostSource nominal_;
    std::uint64_t seed_;
    double now_ = 0;
    int contests_ = 0;
    std::int64_t blocks_ = 0;
    double longer_ = 1;
    std::function<bool(const std::string&)> is_uneven_;
    std::map<std::string, int> measured_;
    std::map<std::string, double> times_;
};

/// A graph's buckets, and what their candidates cost with the times a Context has.
struct FakeTuning {
    FakeTuning(const Graph& graph, const Context& context, std::vector<Split> splits);

    /// The weighted seconds that runs of what was chosen take, by the bench's times.
    double seconds(const select::Selections& selections, FakeBench& bench);
    select::Selections choose() { return select::select(selected, options); }
    /// The best of all, by the bench's times of everything that kernels were asked.
    select::Selections best(FakeBench& bench);
    /// That of a compile that measures nothing.
    select::Selections untuned();

    /// Of a call; by the fastest of its kernel's settings where `any_setting`.
    double time_of(const select::Bucket& bucket, const select::Candidate& way, const Problem& problem,
                   FakeBench& bench) const;

    bool any_setting = false;  ///< whether seconds() and best() count each kernel by its fastest setting
    CompileOptions compile_options;
    std::unique_ptr<Stages> stages;
    std::vector<PreparedBucket> prepared;
    std::vector<select::Bucket> selected;
    select::CostSource costs;
    select::Options options;
};

}  // namespace cairn::test
