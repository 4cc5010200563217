#pragma once

#include "program/memory_plan/canonical_search.hpp"
#include "program/memory_plan/placer.hpp"
#include "program/memory_plan/sections.hpp"
#include "program/memory_plan/xorshift.hpp"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::memory_plan {

/// Lowers a plan at one column of sizes, by searches below ceilings between its lower bound and its height.
///
/// Always the highest section is lowered, in attempts. An attempt searches the core of the section: all of its buffers
/// or, if they are many, those with the highest live sums. The others are placed into the gaps by first fit, and those
/// that end above the ceiling join the core. Most searches end soon or never. So attempts are short, with lengths by
/// the Luby sequence (Luby, Sinclair and Zuckerman 1993), and each has a priority of its own: a rule with perturbed
/// ranks. Every second attempt is at the lower bound, the others bisect the range above it.
class CeilingSearch {
public:
    /// `order`: all buffers, in the order in which first fit gives the plan to be lowered.
    CeilingSearch(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes, int column,
                  std::span<const int> order, Placer& placer);

    /// Makes one attempt of about `steps` at most. False if the plan is at its lower bound.
    bool attempt(std::int64_t steps, const std::stop_token& stop = {});
    /// All buffers, in the order in which first fit gives the plan.
    std::vector<int> order() const;
    /// Number of buffers and ticks visited: the work done, in a machine-independent unit.
    std::int64_t steps() const noexcept { return steps_; }

private:
    /// A section and its plan. Buffers are numbered as in the section, those of `order` as in the problem.
    struct SectionPlan {
        Section section;
        std::vector<int> order;
        std::int64_t height = 0;
        std::vector<std::vector<int>> by_rule;  // all buffers by each rule of priority
        std::vector<int> core_first;            // all buffers: the core, then the others
        int core = 0;                           // number of buffers in the core; 0 before the first attempt
        int attempts = 0;
        std::int64_t failed = 0;       // ceiling of the last attempt that failed to bisect
        double steps_per_descent = 1;  // of the last search that found a plan, relative to the expected ones
    };
    void order_by_rules();
    void choose_core(SectionPlan& plan);
    void lower(SectionPlan& plan, std::int64_t steps, const std::stop_token& stop);
    std::vector<int> priority_of_core(const SectionPlan& plan);
    void complete(SectionPlan& plan, std::span<const int> core, std::int64_t ceiling);
    std::int64_t place(std::span<const int> order);
    std::int64_t end(int buffer) const;

    const PackingProblem* problem_;
    const LiveIntervals* intervals_;
    const Sizes* sizes_;
    int column_;
    Placer* placer_;
    std::vector<SectionPlan> plans_;
    std::vector<int> without_bytes_;
    std::int64_t lower_bound_ = 0, steps_ = 0;
    Xorshift random_;
};

}  // namespace cairn::memory_plan
