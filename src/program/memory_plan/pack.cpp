#include "program/memory_plan/pack.hpp"

#include "program/memory_plan/live_intervals.hpp"
#include "program/memory_plan/packing_search.hpp"
#include "program/memory_plan/relation.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace cairn::memory_plan {
namespace {

PackingBudget budget_of(const Options& options) {
    PackingBudget budget{options.placements, options.work, options.steps, std::chrono::steady_clock::time_point::max(),
                         options.stop};
    if (options.time_limit.count() > 0) budget.deadline = std::chrono::steady_clock::now() + options.time_limit;
    return budget;
}

// The relation without sharing: every buffer above the previous one.
Relation disjoint_relation(std::size_t count) {
    Relation relation;
    relation.order.resize(count);
    std::iota(relation.order.begin(), relation.order.end(), 0);
    relation.start.assign(1, 0);
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) relation.below.push_back(static_cast<int>(i) - 1);
        relation.start.push_back(static_cast<int>(i));
    }
    return relation;
}

Relation search(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes,
                std::span<const std::int64_t> bounds, const Options& options) {
    PackingSearch search(problem, intervals, sizes, bounds, budget_of(options));
    search.portfolio();
    if (!search.has_plan()) return disjoint_relation(problem.buffers.size());
    if (!search.best_score().optimal) {
        // A plan lowered at one of several samples is seldom better at all of them: local search comes first there.
        if (problem.samples == 1) search.lower();
        search.improve();
        if (problem.samples > 1) search.lower();
    }
    return transitive_reduction(search.best());
}

}  // namespace

PackingSolution pack(const PackingProblem& problem, const Options& options) {
    if (const std::string fault = fault_of(problem); !fault.empty()) throw std::invalid_argument(fault);
    const LiveIntervals intervals(problem);
    PackingSolution solution;
    solution.lower_bound = lower_bounds(problem, intervals);
    const Sizes sizes = sizes_of(problem, solution.lower_bound);
    const Relation relation = options.reuse ? search(problem, intervals, sizes, solution.lower_bound, options)
                                            : disjoint_relation(problem.buffers.size());
    Evaluator evaluator(problem, sizes);
    evaluator.evaluate(relation);

    solution.order = relation.order;
    solution.below.resize(problem.buffers.size());
    for (std::size_t p = 0; p < relation.order.size(); ++p) {
        solution.below[relation.order[p]].assign(relation.below.begin() + relation.start[p],
                                                 relation.below.begin() + relation.start[p + 1]);
    }
    solution.height.assign(evaluator.height().begin(), evaluator.height().end());
    for (int s = 0; s < problem.samples; ++s) {
        std::vector<std::int64_t>& offsets = solution.offsets.emplace_back();
        for (int b = 0; b < intervals.count(); ++b) offsets.push_back(evaluator.offset(b, s));
    }
    return solution;
}

}  // namespace cairn::memory_plan
