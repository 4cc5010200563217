#include "device/cpu/team.hpp"

#include "device/cpu/thread_pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn::device {
namespace {

// Runs `instruction(index, team)` for each index, as the executor does.
template <class Instruction>
void run(ThreadPool& pool, TeamState& state, int instructions, const Instruction& instruction) {
    struct Region {
        TeamState& state;
        int instructions;
        const Instruction& instruction;
    } region{state, instructions, instruction};
    state.begin();
    pool.run(
        [](void* context, int rank, int size) {
            auto& r = *static_cast<Region*>(context);
            Team team(rank, size, &r.state);
            for (int i = 0; i < r.instructions; ++i) {
                r.instruction(i, team);
                r.state.next_instruction();
            }
        },
        &region, &state.barrier);
}

class TeamOf : public ::testing::TestWithParam<int> {};

TEST_P(TeamOf, EachChunkGoesToOneMemberInEachInstruction) {
    ThreadPool pool(GetParam());
    TeamState state(pool.size(), pool.barrier_spin());
    constexpr int instructions = 200, chunks = 37;
    std::vector<std::vector<int>> chunk_counts(instructions, std::vector<int>(chunks, 0));
    run(pool, state, instructions, [&](int i, Team& team) {
        for (std::int64_t c = team.next_chunk(); c < chunks; c = team.next_chunk()) ++chunk_counts[i][c];
    });
    for (const auto& row : chunk_counts) EXPECT_EQ(row, std::vector<int>(chunks, 1));
}

TEST_P(TeamOf, BarrierWithinAnInstruction) {
    ThreadPool pool(GetParam());
    TeamState state(pool.size(), pool.barrier_spin());
    std::vector<int> parts(static_cast<std::size_t>(pool.size()), 0);
    std::vector<int> sums(static_cast<std::size_t>(pool.size()), 0);
    run(pool, state, 100, [&](int i, Team& team) {
        parts[team.rank()] = i;
        team.barrier();
        for (const int part : parts) sums[team.rank()] += part;
        team.barrier();
    });
    for (const int sum : sums) EXPECT_EQ(sum, 4950 * pool.size());
}

TEST_P(TeamOf, AFailureEndsOnlyTheCurrentRegionForAllMembers) {
    ThreadPool pool(GetParam());
    TeamState state(pool.size(), pool.barrier_spin());
    for (int round = 0; round < 100; ++round) {
        std::vector<int> done(static_cast<std::size_t>(pool.size()), 0);
        run(pool, state, 10, [&](int i, Team& team) {
            if (i == 4 && team.rank() == pool.size() - 1) {
                team.fail("index out of range");
                team.fail("not the first");
                return;
            }
            team.barrier();
            done[team.rank()] = i;
        });
        ASSERT_NE(state.failure(), nullptr);
        EXPECT_EQ(std::string(state.failure()->reason), "index out of range");
        for (const int last : done) EXPECT_LE(last, 4);
        run(pool, state, 10, [&](int i, Team& team) { done[team.rank()] = i; });
        EXPECT_EQ(state.failure(), nullptr);
        EXPECT_EQ(done, std::vector<int>(static_cast<std::size_t>(pool.size()), 9));
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, TeamOf, ::testing::Values(1, 2, 5));

}  // namespace
}  // namespace cairn::device
