#pragma once

#include "stages.hpp"
#include "tune/bench.hpp"

#include <map>
#include <string>

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

private:
    timing::ContestResult contest(std::span<const timing::Contestant> contestants,
                                  const timing::ContestOptions& options);

    select::CostSource nominal_;
    std::uint64_t seed_;
    double now_ = 0;
    int contests_ = 0;
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

    CompileOptions compile_options;
    std::unique_ptr<Stages> stages;
    std::vector<PreparedBucket> prepared;
    std::vector<select::Bucket> selected;
    select::CostSource costs;
    select::Options options;
};

}  // namespace cairn::test
