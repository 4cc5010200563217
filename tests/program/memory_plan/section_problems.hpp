#pragma once

#include "program/memory_plan/sections.hpp"
#include "tests/program/memory_plan/packing_problems.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

/// Sections for the tests of the search, and their optimum by brute force.
namespace cairn::memory_plan::testing {

/// All buffers of a problem of one sample as one section.
inline Section section_of_all(const PackingProblem& problem) {
    const LiveIntervals intervals(problem);
    std::vector<int> all(problem.buffers.size());
    std::iota(all.begin(), all.end(), 0);
    return section_of(problem, intervals, sizes_of(problem, lower_bounds(problem, intervals)), 0, all);
}

/// The height of the plan in which each buffer, in this order, is above all earlier ones that it is live with.
inline std::int64_t stacked_height(const Section& section, const std::vector<int>& order) {
    std::vector<std::int64_t> end(order.size(), 0);
    std::int64_t height = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const int b = order[i];
        std::int64_t offset = 0;
        for (std::size_t j = 0; j < i; ++j)
            if (section.first[b] <= section.last[order[j]] && section.first[order[j]] <= section.last[b])
                offset = std::max(offset, end[order[j]]);
        end[b] = align_up(offset, section.alignment[b]) + section.bytes[b];
        height = std::max(height, end[b]);
    }
    return height;
}

/// The smallest height of any plan: some order gives it.
inline std::int64_t optimal_height(const Section& section) {
    std::vector<int> order(section.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::int64_t best = order.empty() ? 0 : stacked_height(section, order);
    while (std::next_permutation(order.begin(), order.end())) best = std::min(best, stacked_height(section, order));
    return best;
}

/// Seven buffers whose lowest plan is above the lower bound, 17 for `scale` 1 without the random bytes added.
inline PackingProblem gap_problem(std::mt19937& random, std::int64_t scale) {
    PackingProblem problem = problem_of({{7, 0, 0}, {8, 0, 1}, {5, 1, 3}, {4, 1, 2}, {6, 2, 3}, {6, 3, 4}, {8, 4, 4}});
    for (BufferRequest& buffer : problem.buffers)
        buffer.bytes[0] =
            scale * buffer.bytes[0] + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(scale));
    return problem;
}

/// At most seven buffers, with few instructions and sizes, so that many are equal; a quarter are gap problems.
inline PackingProblem crowded_problem(std::uint32_t seed, bool has_mixed_alignments) {
    std::mt19937 random(seed);
    PackingProblem problem = seed % 4 == 0 ? gap_problem(random, 1 + seed % 5)
                                           : random_problem(random, static_cast<int>(1 + seed % 7), 6, 1, 6, 1);
    for (BufferRequest& buffer : problem.buffers)
        if (has_mixed_alignments) buffer.alignment = std::int64_t{1} << random() % 4;
    return problem;
}

}  // namespace cairn::memory_plan::testing
