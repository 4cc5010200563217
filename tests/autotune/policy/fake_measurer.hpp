#pragma once

#include "autotune/policy/measurer.hpp"
#include "driver/stages.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {

/// Kernels of invented times, and a clock that only they move. No kernel is run.
class FakeMeasurer {
public:
    /// Times lie between what is the least that `nominal` lets them be and eight times what it expects.
    FakeMeasurer(selection::CostModel nominal, std::uint64_t seed);

    double time_of(const Kernel& kernel, const Problem& problem);
    autotune::Measurer measurer();
    double now() const { return now_; }
    int benchmarks() const { return benchmarks_; }
    /// How often each call was timed, by selection::call_key.
    const std::map<std::string, int>& measured() const { return measured_; }
    /// From here on every other block of a call takes this much longer, where `is_uneven` says so of its name.
    void disturb(double longer, std::function<bool(const std::string& name)> is_uneven) {
        longer_ = longer;
        is_uneven_ = std::move(is_uneven);
    }
    /// Called before each contest, with the number of those before.
    std::function<void(int)> before_benchmark;

private:
    autotune::BenchmarkResult benchmark_candidates(std::span<const autotune::BenchmarkCandidate> candidates,
                                                   const autotune::BenchmarkOptions& options);

    selection::CostModel nominal_;
    std::uint64_t seed_;
    double now_ = 0;
    int benchmarks_ = 0;
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
    double seconds(const selection::Selections& selections, FakeMeasurer& measurer);
    selection::Selections choose() { return selection::select(selected, options); }
    /// The best of all, by the bench's times of everything that kernels were asked.
    selection::Selections best(FakeMeasurer& measurer);
    /// That of a compile that measures nothing.
    selection::Selections untuned();

    /// Of a call; by the fastest of its kernel's settings where `any_setting`.
    double time_of(const selection::Bucket& bucket, const selection::Candidate& way, const Problem& problem,
                   FakeMeasurer& measurer) const;

    bool any_setting = false;  ///< whether seconds() and best() count each kernel by its fastest setting
    CompileOptions compile_options;
    std::unique_ptr<driver::Stages> stages;
    std::vector<driver::PreparedBucket> prepared;
    std::vector<selection::Bucket> selected;
    selection::CostModel costs;
    selection::Options options;
};

}  // namespace cairn::test
