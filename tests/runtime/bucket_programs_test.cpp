#include "runtime/bucket_programs.hpp"

#include "cairn/cairn.hpp"
#include "runtime/compiled_graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace cairn::runtime {
namespace {

/// A bucket whose program has another one beside it, which is the same: what they are is not asked here.
struct Pair {
    Pair() {
        Graph g("g");
        g.output("y", g.input("x", DType::f32, {2}) * 2.0F);
        bucket = parse_program_set(compile(g, context).program()).buckets[0];
        bucket.exact = bucket.program;
        bucket.inexact = {{false, 0, 1e-2, 5e-3}};
    }
    BucketPrograms linked() const { return BucketPrograms(bucket, context, {}); }

    Context context;
    BucketProgram bucket;
};

constexpr std::array near{1e-3}, also_near{2e-3}, far{2e-2};

TEST(BucketPrograms, AnExactProgramStandsAlone) {
    Pair pair;
    pair.bucket.exact.reset();
    pair.bucket.inexact.clear();
    const BucketPrograms programs = pair.linked();
    EXPECT_EQ(programs.verdict(), Verdict::within);
    EXPECT_EQ(programs.beside(), nullptr);
    EXPECT_TRUE(programs.errors().empty());
}

TEST(BucketPrograms, WhatIsNearEnoughStaysAndTheOtherGoes) {
    const Pair pair;
    BucketPrograms programs = pair.linked();
    EXPECT_EQ(programs.verdict(), Verdict::open);
    const std::shared_ptr<BoundProgram> own = programs.chosen();
    std::shared_ptr<BoundProgram> exact = programs.beside();
    const std::weak_ptr<BoundProgram> watched = exact;
    EXPECT_NE(exact, own);
    EXPECT_TRUE(programs.settle(std::move(exact), near));
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(programs.verdict(), Verdict::within);
    EXPECT_EQ(programs.chosen(), own);
    EXPECT_EQ(programs.errors(), std::vector<double>{1e-3});
}

TEST(BucketPrograms, WhatIsTooFarGoes) {
    const Pair pair;
    BucketPrograms programs = pair.linked();
    const std::weak_ptr<BoundProgram> own = programs.chosen();
    const std::shared_ptr<BoundProgram> exact = programs.beside();
    EXPECT_FALSE(programs.settle(exact, far));
    EXPECT_TRUE(own.expired());
    EXPECT_EQ(programs.verdict(), Verdict::beyond);
    EXPECT_EQ(programs.chosen(), exact);
    EXPECT_EQ(programs.beside(), nullptr);
}

TEST(BucketPrograms, OneThatFoundItTooFarCounts) {
    const Pair pair;
    for (const bool near_first : {true, false}) {
        BucketPrograms programs = pair.linked();
        const std::shared_ptr<BoundProgram> exact = programs.beside(), of_another = programs.beside();
        EXPECT_EQ(programs.settle(exact, near_first ? near : far), near_first);
        EXPECT_EQ(programs.settle(of_another, near_first ? far : also_near), !near_first);
        EXPECT_EQ(programs.verdict(), Verdict::beyond);
        EXPECT_EQ(programs.chosen(), exact);
        EXPECT_EQ(programs.errors(), std::vector<double>{2e-2});
    }
}

TEST(BucketPrograms, ManyThreadsSettleAtOnce) {
    const Pair pair;
    for (int round = 0; round < 20; ++round) {
        BucketPrograms programs = pair.linked();
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                std::shared_ptr<BoundProgram> exact = programs.beside();
                if (exact == nullptr) {
                    EXPECT_NE(programs.verdict(), Verdict::open);
                    return;
                }
                programs.settle(std::move(exact), t == 2 && round % 2 == 0 ? far : near);
                EXPECT_NE(programs.chosen(), nullptr);
            });
        threads.clear();
        EXPECT_NE(programs.verdict(), Verdict::open);
        EXPECT_EQ(programs.verdict() == Verdict::beyond, programs.errors()[0] > 1e-2);
        EXPECT_EQ(programs.beside(), nullptr);
    }
}

}  // namespace
}  // namespace cairn::runtime
