#include "program/memory_plan/validate.hpp"

#include "program/memory_plan/pack.hpp"
#include "tests/program/memory_plan/packing_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace cairn::memory_plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Faults are injected into valid plans of random problems. Each must be a fault by a criterion independent of the
// validator.
class ValidatorFaults : public ::testing::Test {
protected:
    static constexpr int rounds = 40;

    // Plans `rounds` problems; `plant` injects a fault and returns whether it could.
    template <class Plant>
    void expect_all_caught(unsigned seed, int at_least, const Plant& plant) {
        std::mt19937 random(seed);
        int planted = 0, caught = 0;
        for (int round = 0; round < rounds; ++round) {
            PackingProblem problem = testing::random_problem(random, 14, 12, 2, 500, round % 2 == 0 ? 1 : 16);
            PackingSolution solution = pack(problem);
            ASSERT_EQ(validate(problem, solution), "");
            if (!plant(random, problem, solution)) continue;
            ++planted;
            caught += validate(problem, solution).empty() ? 0 : 1;
        }
        EXPECT_GE(planted, at_least);
        EXPECT_EQ(caught, planted);
    }

    static std::size_t pick(std::mt19937& random, std::size_t below) { return random() % below; }

    static bool reaches(const PackingSolution& solution, int upper, int lower) {
        return std::any_of(solution.below[upper].begin(), solution.below[upper].end(),
                           [&](int j) { return j == lower || reaches(solution, j, lower); });
    }
};

TEST_F(ValidatorFaults, SwappedOffsets) {
    expect_all_caught(1, 35, [](std::mt19937& random, PackingProblem& problem, PackingSolution& solution) {
        for (int attempt = 0; attempt < 50; ++attempt) {
            const std::size_t a = pick(random, 14), b = pick(random, 14), s = pick(random, 2);
            auto& offset = solution.offsets[s];
            if (offset[a] == offset[b] || !testing::alive_together(problem.buffers[a], problem.buffers[b])) continue;
            std::swap(offset[a], offset[b]);  // the relation gives one offset to each, and these two differ
            return true;
        }
        return false;
    });
}

TEST_F(ValidatorFaults, ShortenedLiveInterval) {
    // The plan is made for a live interval that is too short; at a sample it reuses bytes that are still live.
    expect_all_caught(2, 25, [](std::mt19937&, PackingProblem& problem, PackingSolution& solution) {
        for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
            if (problem.buffers[b].last == problem.buffers[b].first) continue;
            PackingProblem shrunk = problem;
            shrunk.buffers[b].last -= 1;
            solution = pack(shrunk);
            if (testing::shares_bytes(problem, solution, 0) || testing::shares_bytes(problem, solution, 1)) return true;
        }
        return false;
    });
}

TEST_F(ValidatorFaults, DroppedEdge) {
    // Offsets and heights are recomputed without the edge: the plan may be right at the samples, but not at every size.
    int right_at_samples = 0;
    expect_all_caught(3, 35, [&](std::mt19937& random, PackingProblem& problem, PackingSolution& solution) {
        for (int attempt = 0; attempt < 50; ++attempt) {
            const int i = static_cast<int>(pick(random, 14));
            if (solution.below[i].empty()) continue;
            const std::size_t e = pick(random, solution.below[i].size());
            const int j = solution.below[i][e];
            solution.below[i].erase(solution.below[i].begin() + static_cast<std::ptrdiff_t>(e));
            if (reaches(solution, i, j) || !testing::alive_together(problem.buffers[i], problem.buffers[j]))
                return false;
            solution = testing::reevaluated(problem, solution);
            right_at_samples +=
                testing::shares_bytes(problem, solution, 0) || testing::shares_bytes(problem, solution, 1) ? 0 : 1;
            return true;
        }
        return false;
    });
    EXPECT_GT(right_at_samples, 0);
}

TEST_F(ValidatorFaults, SizeOffByOne) {
    expect_all_caught(4, 25, [](std::mt19937& random, PackingProblem& problem, PackingSolution& solution) {
        for (int attempt = 0; attempt < 50; ++attempt) {
            const std::size_t b = pick(random, 14), s = pick(random, 2);
            problem.buffers[b].bytes[s] += 1;
            if (testing::shares_bytes(problem, solution, s)) return true;
            problem.buffers[b].bytes[s] -= 1;
        }
        return false;
    });
}

TEST_F(ValidatorFaults, Misaligned) {
    expect_all_caught(5, 15, [](std::mt19937& random, PackingProblem& problem, PackingSolution& solution) {
        const std::size_t b = pick(random, 14), s = pick(random, 2);
        solution.offsets[s][b] += 1 + static_cast<std::int64_t>(pick(random, 15));
        return solution.offsets[s][b] % problem.buffers[b].alignment != 0;
    });
}

TEST_F(ValidatorFaults, Height) {
    expect_all_caught(6, rounds, [](std::mt19937& random, PackingProblem&, PackingSolution& solution) {
        solution.height[pick(random, 2)] += pick(random, 2) == 0 ? 1 : -1;
        return true;
    });
}

TEST_F(ValidatorFaults, LowerBound) {
    expect_all_caught(7, rounds, [](std::mt19937& random, PackingProblem&, PackingSolution& solution) {
        solution.lower_bound[pick(random, 2)] += pick(random, 2) == 0 ? 1 : -1;
        return true;
    });
}

TEST_F(ValidatorFaults, Order) {
    expect_all_caught(8, 25, [](std::mt19937& random, PackingProblem&, PackingSolution& solution) {
        const std::size_t i = pick(random, 14);
        if (solution.below[i].empty()) return false;
        auto& order = solution.order;
        std::iter_swap(std::find(order.begin(), order.end(), static_cast<int>(i)),
                       std::find(order.begin(), order.end(), solution.below[i][0]));
        return true;
    });
}

TEST_F(ValidatorFaults, Cycle) {
    expect_all_caught(9, 25, [](std::mt19937& random, PackingProblem&, PackingSolution& solution) {
        const int i = static_cast<int>(pick(random, 14));
        if (solution.below[i].empty()) return false;
        solution.below[solution.below[i][0]].push_back(i);
        return true;
    });
}

TEST(Validate, NamesTheFault) {
    const PackingProblem problem = testing::problem_of({{10, 0, 3}, {20, 2, 5}});
    const PackingSolution sound = {{{}, {0}}, {0, 1}, {{0, 10}}, {30}, {30}};
    EXPECT_EQ(validate(problem, sound), "");
    const auto fault = [&](auto change) {
        PackingSolution broken = sound;
        change(broken);
        return validate(problem, broken);
    };
    EXPECT_EQ(fault([](PackingSolution& s) { s.below[1].clear(); }),
              "buffers 0 and 1 are live together at instruction 2 but neither is below the other");
    EXPECT_EQ(fault([](PackingSolution& s) { s.offsets[0][1] = 11; }),
              "buffer 1 is at 11 at sample 0, the relation gives 10");
    EXPECT_EQ(fault([](PackingSolution& s) {
                  s.order = {1, 0};
              }),
              "buffer 1 comes before buffer 0 in `order`, yet is above it");
    EXPECT_EQ(fault([](PackingSolution& s) { s.order = {0, 0}; }), "`order` names buffer 0 twice");
    EXPECT_EQ(fault([](PackingSolution& s) { s.order = {0, 2}; }), "`order` names buffer 2 of 2");
    EXPECT_EQ(fault([](PackingSolution& s) { s.order = {0, -1}; }), "`order` names buffer -1 of 2");
    EXPECT_EQ(fault([](PackingSolution& s) { s.below[1] = {7}; }), "buffer 1 is above buffer 7, which does not exist");
    EXPECT_EQ(fault([](PackingSolution& s) { s.below[1] = {1}; }),
              "buffer 1 comes before buffer 1 in `order`, yet is above it");
    EXPECT_EQ(fault([](PackingSolution& s) { s.height[0] = 29; }), "height 29 at sample 0, the highest end is 30");
    EXPECT_EQ(fault([](PackingSolution& s) { s.lower_bound[0] = 29; }),
              "lower bound 29 at sample 0, the maximum of live bytes is 30");
}

TEST(Validate, RefusesMalformedSolutions) {
    const PackingProblem problem = testing::problem_of({{10, 0, 3}, {20, 2, 5}});
    const PackingSolution sound = pack(problem);
    for (const auto change :
         {+[](PackingSolution& s) { s.below.pop_back(); }, +[](PackingSolution& s) { s.order.pop_back(); },
          +[](PackingSolution& s) { s.offsets.pop_back(); }, +[](PackingSolution& s) { s.offsets[0].pop_back(); },
          +[](PackingSolution& s) { s.height.pop_back(); }, +[](PackingSolution& s) { s.lower_bound.pop_back(); }}) {
        PackingSolution broken = sound;
        change(broken);
        EXPECT_THAT(validate(problem, broken), HasSubstr("has not one entry a"));
    }
    for (const auto change :
         {+[](PackingProblem& p) { p.samples = 0; }, +[](PackingProblem& p) { p.buffers[0].bytes.clear(); },
          +[](PackingProblem& p) { p.buffers[0].bytes[0] = -1; },
          +[](PackingProblem& p) { p.buffers[0].alignment = 3; }, +[](PackingProblem& p) { p.buffers[0].last = -1; },
          +[](PackingProblem& p) { p.buffers[0].bytes[0] = std::int64_t{1} << 62; }}) {
        PackingProblem broken = problem;
        change(broken);
        EXPECT_THAT(validate(broken, sound), Not(""));
    }
}

}  // namespace
}  // namespace cairn::memory_plan
