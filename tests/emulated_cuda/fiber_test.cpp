#include "tests/emulated_cuda/fiber.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::emulated_cuda {
namespace {

struct Counters {
    Fibers* fibers = nullptr;
    std::vector<int> counts;
    std::vector<double> sums;
};

void count_to_three(void* context, std::size_t fiber) {
    auto& counters = *static_cast<Counters*>(context);
    double sum = 0.5 * static_cast<double>(fiber);  // lives in a register or on the stack of the fiber
    for (int i = 0; i < 3; ++i) {
        ++counters.counts[fiber];
        sum += i;
        counters.fibers->suspend();
    }
    counters.sums[fiber] = sum;
}

TEST(Fibers, ContinueWhereTheySuspended) {
    Counters counters{nullptr, std::vector<int>(5), std::vector<double>(5)};
    Fibers fibers(5, 16384, count_to_three, &counters);
    counters.fibers = &fibers;
    for (int round = 1; round <= 3; ++round)
        for (std::size_t i : {4, 0, 2, 1, 3}) {
            fibers.resume(i);
            EXPECT_EQ(counters.counts[i], round);
        }
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(counters.sums[i], 0.0);
        fibers.resume(i);
        EXPECT_EQ(counters.sums[i], 0.5 * static_cast<double>(i) + 3);
    }
}

TEST(Fibers, StartAgain) {
    Counters counters{nullptr, std::vector<int>(2), std::vector<double>(2)};
    Fibers fibers(2, 16384, count_to_three, &counters);
    counters.fibers = &fibers;
    for (int run = 1; run <= 100; ++run) {
        fibers.restart(1);  // also where it has not finished
        fibers.resume(1);
        fibers.resume(1);
        EXPECT_EQ(counters.counts[1], 2 * run);
    }
    EXPECT_EQ(counters.counts[0], 0);
}

struct Relay {
    Fibers* fibers = nullptr;
    std::vector<std::size_t> order;
};

void pass_on(void* context, std::size_t fiber) {
    auto& relay = *static_cast<Relay*>(context);
    for (int round = 0; round < 2; ++round) {
        relay.order.push_back(fiber);
        if (fiber + 1 < relay.fibers->count())
            relay.fibers->pass_to(fiber + 1);
        else
            relay.fibers->suspend();
    }
}

TEST(Fibers, PassToOneAnother) {
    Relay relay;
    Fibers fibers(3, 16384, pass_on, &relay);
    relay.fibers = &fibers;
    fibers.resume(0);  // returns from the suspension of the last
    EXPECT_EQ(relay.order, (std::vector<std::size_t>{0, 1, 2}));
    fibers.resume(1);
    EXPECT_EQ(relay.order, (std::vector<std::size_t>{0, 1, 2, 1, 2}));
    fibers.resume(0);  // passes to a fiber that ends
    EXPECT_EQ(relay.order, (std::vector<std::size_t>{0, 1, 2, 1, 2, 0}));
}

void record_stack(void* context, std::size_t fiber) {
    int local = 0;
    static_cast<std::vector<const void*>*>(context)->at(fiber) = &local;
}

TEST(Fibers, OwnTheirStacks) {
    std::vector<const void*> locals(3);
    Fibers fibers(3, 16384, record_stack, &locals);
    for (std::size_t i = 0; i < 3; ++i) fibers.resume(i);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(fibers.owner(locals[i]), i);
    EXPECT_EQ(fibers.owner(&locals), 3u);
    EXPECT_EQ(fibers.owner(nullptr), 3u);
}

}  // namespace
}  // namespace cairn::emulated_cuda
