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

/// A Measurer with invented kernel times, and a clock that only these advance. No kernel is run.
class FakeMeasurer {
public:
    /// Times are between the lower bound of `nominal` and eight times its estimate.
    FakeMeasurer(selection::CostModel nominal, std::uint64_t seed);

    double time_of(const Kernel& kernel, const Problem& problem);
    autotune::Measurer measurer();
    double now() const { return now_; }
    int benchmarks() const { return benchmarks_; }
    /// Number of times each call was timed, by selection::call_key.
    const std::map<std::string, int>& measured() const { return measured_; }
    /// From now on every other block of a call takes this many times as long if `is_uneven` is true for its key.
    void disturb(double longer, std::function<bool(const std::string& name)> is_uneven) {
        longer_ = longer;
        is_uneven_ = std::move(is_uneven);
    }
    /// Called before each benchmark, with the number of previous ones.
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

/// A graph's buckets, and the cost model of their candidates with the times of a Context.
struct FakeTuning {
    FakeTuning(const Graph& graph, const Context& context, std::vector<Split> splits);

    /// Weighted seconds of the runs of a selection, by the measurer's times.
    double seconds(const selection::Selections& selections, FakeMeasurer& measurer);
    selection::Selections choose() { return selection::select(selected, options); }
    /// The best selection by the measurer's times of all queried kernels.
    selection::Selections best(FakeMeasurer& measurer);
    /// The selection of a compile that measures nothing.
    selection::Selections untuned();

    /// Time of a call; with `any_setting` that of the fastest setting of its kernel.
    double time_of(const selection::Bucket& bucket, const selection::Candidate& choice, const Problem& problem,
                   FakeMeasurer& measurer) const;

    bool any_setting = false;  ///< seconds() and best() use the fastest setting of each kernel
    CompileOptions compile_options;
    std::unique_ptr<driver::Stages> stages;
    std::vector<driver::PreparedBucket> prepared;
    std::vector<selection::Bucket> selected;
    selection::CostModel costs;
    selection::Options options;
};

}  // namespace cairn::test
