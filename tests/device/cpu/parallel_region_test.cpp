#include "device/cpu/parallel_region.hpp"

#include "device/cpu/thread_pool.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace cairn::device {
namespace {

/// What a step records: how many members it had, and how often it ran.
struct Record {
    std::atomic<int> calls{0};
    std::atomic<int> members{0};
};

void note(const Args& args, Team& team) {
    auto& seen = *reinterpret_cast<Record*>(args.workspace);
    team.barrier();
    ++seen.calls;
    seen.members = team.size();
    for (std::int64_t chunk = team.next_chunk(); chunk < 3; chunk = team.next_chunk()) {}
}

struct Program {
    explicit Program(std::size_t count) : seen(count), launches(count) {
        for (std::size_t i = 0; i < count; ++i)
            launches[i] = {note, {nullptr, nullptr, nullptr, reinterpret_cast<std::byte*>(&seen[i]), nullptr}};
    }
    std::vector<Record> seen;
    std::vector<KernelLaunch> launches;
};

void run(Program& program, const std::int32_t* serial_launches, Submission& submission, ThreadPool& pool,
         TeamState& team) {
    submission.count = static_cast<std::int64_t>(program.launches.size());
    ParallelRegion region{program.launches, serial_launches, team, submission};
    team.begin();
    pool.run([](void* r, int rank, int size) { run_team_member(*static_cast<ParallelRegion*>(r), rank, size); },
             &region, &team.barrier);
}

TEST(ParallelRegion, OneThreadRunsASequenceOfSmallLaunches) {
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        TeamState team(threads, pool.barrier_spin());
        for (const std::vector<std::int32_t>& serial_launches : {std::vector<std::int32_t>{0, 0, 0, 0, 0, 0},
                                                                 {6, 5, 4, 3, 2, 1},
                                                                 {2, 1, 0, 0, 2, 1},
                                                                 {0, 2, 1, 0, 1, 0},
                                                                 {1, 0, 1, 0, 1, 0}}) {
            Program program(6);
            for (int round = 1; round <= 50; ++round) {
                std::vector<std::int64_t> observed;
                std::vector<TimeSpan> spans(6 * static_cast<std::size_t>(threads), {-1, -1});
                Submission submission;
                submission.spans = spans.data();
                submission.caller = &observed;
                submission.progress = [](void* caller, std::int64_t done) {
                    static_cast<std::vector<std::int64_t>*>(caller)->push_back(done);
                };
                run(program, serial_launches.data(), submission, pool, team);
                for (std::size_t i = 0; i < 6; ++i) {
                    const int members = serial_launches[i] > 0 ? 1 : threads;
                    ASSERT_EQ(program.seen[i].members, members) << i;
                    ASSERT_EQ(program.seen[i].calls, members * round) << i;
                    for (int rank = 0; rank < threads; ++rank) {
                        const TimeSpan& span =
                            spans[i * static_cast<std::size_t>(threads) + static_cast<std::size_t>(rank)];
                        ASSERT_EQ(span.end >= 0, rank < members) << i;
                    }
                }
                ASSERT_EQ(observed, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
                ASSERT_EQ(submission.begun(), 6);
            }
        }
    }
}

TEST(ParallelRegion, AStopRequestEndsAllMembersAfterTheSameLaunch) {
    for (const int threads : {1, 2, 3})
        for (const std::vector<std::int32_t>& serial_launches :
             {std::vector<std::int32_t>{0, 0, 0, 0}, {4, 3, 2, 1}, {3, 2, 1, 0}, {0, 3, 2, 1}})
            for (std::int64_t at = 1; at <= 4; ++at) {
                ThreadPool pool(threads);
                TeamState team(threads, pool.barrier_spin());
                Program program(4);
                struct Caller {
                    std::int64_t checks = 0, at = 0;
                } caller{0, at};
                Submission submission;
                submission.caller = &caller;
                submission.should_stop = [](void* c) {
                    auto& self = *static_cast<Caller*>(c);
                    return ++self.checks == self.at;
                };
                run(program, serial_launches.data(), submission, pool, team);
                EXPECT_EQ(submission.stopped, at < 4 ? at : -1);
                EXPECT_EQ(submission.begun(), at);
                for (std::int64_t i = 0; i < 4; ++i)
                    EXPECT_EQ(program.seen[static_cast<std::size_t>(i)].calls > 0, i < at) << i << " of " << at;
            }
}

TEST(ParallelRegion, AFailureInASequenceEndsAllMembers) {
    for (const int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        TeamState team(threads, pool.barrier_spin());
        Program program(5);
        program.launches[2].run = [](const Args&, Team& t) { t.fail("no"); };
        const std::int32_t serial_launches[] = {0, 3, 2, 1, 0};
        for (int round = 0; round < 50; ++round) {
            Submission submission;
            run(program, serial_launches, submission, pool, team);
            ASSERT_EQ(submission.failed, 2);
            ASSERT_EQ(submission.begun(), 3);
            ASSERT_EQ(program.seen[3].calls, 0);
            ASSERT_NE(team.failure(), nullptr);
        }
    }
}

}  // namespace
}  // namespace cairn::device
