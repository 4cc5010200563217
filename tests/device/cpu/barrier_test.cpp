#include "device/cpu/barrier.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cairn::device {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

void with_threads(int count, const auto& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank) threads.emplace_back([&body, rank] { body(rank); });
    for (std::thread& thread : threads) thread.join();
}

class BarrierOf : public ::testing::TestWithParam<std::pair<int, nanoseconds>> {};

// Plain variables, so that ThreadSanitizer checks the order: each round one member writes what all read after the
// barrier.
TEST_P(BarrierOf, SeparatesRounds) {
    const auto [members, spin] = GetParam();
    SpinBudget budget(spin, Barrier::max_spin_pause);
    Barrier barrier(members, budget);
    constexpr int rounds = 3000;
    std::int64_t value = 0;
    std::vector<std::int64_t> sums(static_cast<std::size_t>(members), 0);
    with_threads(members, [&, count = members](int rank) {
        for (int round = 0; round < rounds; ++round) {
            if (round % count == rank) value = round;
            if (!barrier.wait()) return;
            sums[rank] += value;
            if (!barrier.wait()) return;
        }
    });
    for (const std::int64_t sum : sums) EXPECT_EQ(sum, std::int64_t{rounds} * (rounds - 1) / 2);
}

TEST_P(BarrierOf, TheLastMemberRunsTheCompletionOnce) {
    const auto [members, spin] = GetParam();
    SpinBudget budget(spin, Barrier::max_spin_pause);
    Barrier barrier(members, budget);
    int completions = 0, wrong = 0;
    with_threads(members, [&](int rank) {
        for (int round = 1; round <= 1000; ++round) {
            if (!barrier.wait([&]() noexcept { ++completions; })) return;
            if (rank == 0 && completions != round) ++wrong;
            if (!barrier.wait()) return;
        }
    });
    EXPECT_EQ(completions, 1000);
    EXPECT_EQ(wrong, 0);
}

TEST_P(BarrierOf, AbortReleasesAllWaitingMembers) {
    const auto [members, spin] = GetParam();
    if (members == 1) return;  // one member never waits
    SpinBudget budget(spin, Barrier::max_spin_pause);
    Barrier barrier(members, budget);
    for (int round = 0; round < 200; ++round) {
        barrier.reset();
        std::atomic<int> freed{0};
        with_threads(members, [&](int rank) {
            if (rank == 0) {
                if (round % 2 == 0) std::this_thread::sleep_for(microseconds(200));  // so that the others sleep
                barrier.abort();
            } else if (!barrier.wait()) {
                ++freed;
            }
        });
        EXPECT_EQ(freed, members - 1);
        EXPECT_TRUE(barrier.aborted());
        EXPECT_FALSE(barrier.wait());
    }
    barrier.reset();
    EXPECT_FALSE(barrier.aborted());
    std::atomic<int> arrived{0};
    with_threads(members, [&](int) { arrived += barrier.wait() ? 1 : 0; });
    EXPECT_EQ(arrived, members);
}

// A CPU that is taken stays so for the next region: its barrier need not spin in vain again.
TEST(Barrier, ASharedBudgetKeepsWhatABarrierHasLearned) {
    SpinBudget shared(microseconds(50), 8);
    {
        Barrier barrier(2, shared);
        std::thread late([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            EXPECT_TRUE(barrier.wait());
        });
        EXPECT_TRUE(barrier.wait());
        late.join();
    }
    EXPECT_LT(shared.now(), microseconds(50));
    EXPECT_EQ(SpinBudget(microseconds(50), 8).now(), microseconds(50));
}

INSTANTIATE_TEST_SUITE_P(SpinningAndSleeping, BarrierOf,
                         ::testing::Values(std::pair{1, nanoseconds(0)}, std::pair{2, nanoseconds(microseconds(100))},
                                           std::pair{2, nanoseconds(1)}, std::pair{2, nanoseconds(0)},
                                           std::pair{5, nanoseconds(0)}, std::pair{3, nanoseconds(microseconds(20))}));

}  // namespace
}  // namespace cairn::device
