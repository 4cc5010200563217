#include "runtime/bucket_programs.hpp"

#include "cairn/cairn.hpp"
#include "runtime/compiled_graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace cairn::runtime {
namespace {

/// A bucket whose inexact and exact programs are the same one: these tests do not run them.
struct Pair {
    Pair() {
        Graph g("g");
        g.output("y", g.input("x", DType::f32, {2}) * 2.0F);
        bucket = parse_program_set(compile(g, context).program()).buckets[0];
        bucket.exact = bucket.program;
        bucket.inexact = {{false, 0, 1e-2, 5e-3}};
    }
    BucketPrograms linked() const {
        CompiledCodes codes;
        return BucketPrograms(bucket, context, codes, {});
    }

    Context context;
    BucketProgram bucket;
};

constexpr std::array near{1e-3}, also_near{2e-3}, far{2e-2};

TEST(BucketPrograms, AnExactProgramHasNoReferenceProgram) {
    Pair pair;
    pair.bucket.exact.reset();
    pair.bucket.inexact.clear();
    const BucketPrograms programs = pair.linked();
    EXPECT_EQ(programs.status(), VerificationStatus::passed);
    EXPECT_EQ(programs.reference_program(), nullptr);
    EXPECT_TRUE(programs.errors().empty());
}

TEST(BucketPrograms, AProgramWithinToleranceReplacesTheExactOne) {
    const Pair pair;
    BucketPrograms programs = pair.linked();
    EXPECT_EQ(programs.status(), VerificationStatus::pending);
    const std::shared_ptr<BoundProgram> own = programs.active();
    std::shared_ptr<BoundProgram> exact = programs.reference_program();
    const std::weak_ptr<BoundProgram> watched = exact;
    EXPECT_NE(exact, own);
    EXPECT_TRUE(programs.resolve(std::move(exact), near));
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(programs.status(), VerificationStatus::passed);
    EXPECT_EQ(programs.active(), own);
    EXPECT_EQ(programs.errors(), std::vector<double>{1e-3});
}

TEST(BucketPrograms, AProgramBeyondToleranceIsReplacedByTheExactOne) {
    const Pair pair;
    BucketPrograms programs = pair.linked();
    const std::weak_ptr<BoundProgram> own = programs.active();
    const std::shared_ptr<BoundProgram> exact = programs.reference_program();
    EXPECT_FALSE(programs.resolve(exact, far));
    EXPECT_TRUE(own.expired());
    EXPECT_EQ(programs.status(), VerificationStatus::failed);
    EXPECT_EQ(programs.active(), exact);
    EXPECT_EQ(programs.reference_program(), nullptr);
}

TEST(BucketPrograms, OneResultBeyondToleranceDecides) {
    const Pair pair;
    for (const bool near_first : {true, false}) {
        BucketPrograms programs = pair.linked();
        const std::shared_ptr<BoundProgram> exact = programs.reference_program(),
                                            of_another = programs.reference_program();
        EXPECT_EQ(programs.resolve(exact, near_first ? near : far), near_first);
        EXPECT_EQ(programs.resolve(of_another, near_first ? far : also_near), !near_first);
        EXPECT_EQ(programs.status(), VerificationStatus::failed);
        EXPECT_EQ(programs.active(), exact);
        EXPECT_EQ(programs.errors(), std::vector<double>{2e-2});
    }
}

TEST(BucketPrograms, ConcurrentThreadsResolveOnce) {
    const Pair pair;
    for (int round = 0; round < 20; ++round) {
        BucketPrograms programs = pair.linked();
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                std::shared_ptr<BoundProgram> exact = programs.reference_program();
                if (exact == nullptr) {
                    EXPECT_NE(programs.status(), VerificationStatus::pending);
                    return;
                }
                programs.resolve(std::move(exact), t == 2 && round % 2 == 0 ? far : near);
                EXPECT_NE(programs.active(), nullptr);
            });
        threads.clear();
        EXPECT_NE(programs.status(), VerificationStatus::pending);
        EXPECT_EQ(programs.status() == VerificationStatus::failed, programs.errors()[0] > 1e-2);
        EXPECT_EQ(programs.reference_program(), nullptr);
    }
}

}  // namespace
}  // namespace cairn::runtime
