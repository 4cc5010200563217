#include "device/cpu/thread_pool.hpp"

#include "cairn/error.hpp"
#include "device/cpu/affinity.hpp"
#include "tests/device/cpu/allocations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace cairn::device {
namespace {

using ::testing::HasSubstr;

std::set<std::string> threads_of_process() {
    std::set<std::string> ids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
        ids.insert(entry.path().filename());
    return ids;
}

// The threads that exist now and were not in `before`, once there are `count` of them (threads take a moment to exit).
std::set<std::string> new_threads(const std::set<std::string>& before, std::size_t count) {
    std::set<std::string> now;
    for (int attempt = 0; attempt < 1000; ++attempt) {
        now.clear();
        for (const std::string& id : threads_of_process()) {
            if (!before.contains(id)) now.insert(id);
        }
        if (now.size() == count) break;
        usleep(1000);
    }
    return now;
}

char state_of(const std::string& thread) {
    std::ifstream file("/proc/self/task/" + thread + "/stat");
    std::string text;
    std::getline(file, text);
    return text.at(text.rfind(')') + 2);
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Calls `body(rank, size)` in every member.
template <class Call>
void run(ThreadPool& pool, const Call& call, Barrier* barrier = nullptr) {
    pool.run([](void* context, int rank, int size) { (*static_cast<const Call*>(context))(rank, size); },
             const_cast<Call*>(&call), barrier);
}

TEST(ThreadPool, CreatesExactlyTheRequestedThreads) {
    run(*std::make_unique<ThreadPool>(2), [](int, int) {});  // sanitizers start threads of their own with the first one
    for (const int threads : {1, 2, 3, 7}) {
        const auto before = threads_of_process();
        {
            ThreadPool pool(threads);
            EXPECT_EQ(pool.size(), threads);
            EXPECT_EQ(new_threads(before, static_cast<std::size_t>(threads) - 1).size(),
                      static_cast<std::size_t>(threads) - 1);
            std::vector<int> entered(static_cast<std::size_t>(threads), 0);
            run(pool, [&](int rank, int size) { entered[rank] += size; });
            EXPECT_EQ(entered, std::vector<int>(static_cast<std::size_t>(threads), threads));
        }
        EXPECT_EQ(new_threads(before, 0).size(), 0U);
    }
}

TEST(ThreadPool, TheCallerIsRankZero) {
    ThreadPool pool(3);
    std::vector<std::thread::id> ids(3);
    run(pool, [&](int rank, int) { ids[rank] = std::this_thread::get_id(); });
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3U);
}

TEST(ThreadPool, RefusesInvalidThreadCounts) {
    for (const int threads : {0, -1, 4097, 1'000'000'000}) {
        try {
            ThreadPool pool(threads);
            FAIL() << threads;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::argument);
            EXPECT_EQ(std::string(error.what()),
                      "[threads] expected 1 to 4096 threads, got " + std::to_string(threads));
        }
    }
}

TEST(ThreadPool, ManyRegions) {
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        std::vector<std::int64_t> sums(static_cast<std::size_t>(threads), 0);
        for (int region = 0; region < 5000; ++region) run(pool, [&](int rank, int) { sums[rank] += region; });
        for (const std::int64_t sum : sums) EXPECT_EQ(sum, 5000 * 4999 / 2);
    }
}

TEST(ThreadPool, WakesFromSleep) {
    ThreadPool pool(2);
    int entered[2] = {};
    for (int region = 0; region < 20; ++region) {
        usleep(2000);
        run(pool, [&](int rank, int) { ++entered[rank]; });
    }
    EXPECT_EQ(entered[0], 20);
    EXPECT_EQ(entered[1], 20);
}

TEST(ThreadPool, SleepsWhenIdle) {
    // With the first thread ThreadSanitizer starts one of its own.
    std::thread([] {}).join();
    const auto before = threads_of_process();
    ThreadPool pool(4, {std::chrono::microseconds(100), 64});
    run(pool, [](int, int) {});
    const auto workers = new_threads(before, 3);
    ASSERT_EQ(workers.size(), 3U);
    usleep(50'000);
    const double start = cpu_seconds();
    usleep(300'000);
    EXPECT_LT(cpu_seconds() - start, 0.1);  // three spinning threads would have taken 0.3 s or more
    int asleep = 0;
    for (const std::string& worker : workers) asleep += state_of(worker) == 'S' ? 1 : 0;
    EXPECT_EQ(asleep, 3);
}

TEST(ThreadPool, NoAllocationInARegion) {
    ThreadPool pool(3);
    Barrier barrier(3, pool.barrier_spin());
    run(pool, [](int, int) {});
    const long before = testing::allocations();
    for (int region = 0; region < 200; ++region) {
        if (region % 50 == 0) usleep(1000);
        run(
            pool, [&](int, int) { static_cast<void>(barrier.wait()); }, &barrier);
    }
    EXPECT_EQ(testing::allocations(), before);
    auto* const counted = new std::vector<int>(5);
    delete counted;
    EXPECT_EQ(testing::allocations(), before + 2);  // the counter works
}

TEST(ThreadPool, ExceptionsReachTheCallerWhileOthersWait) {
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        Barrier barrier(threads, pool.barrier_spin());
        for (int thrower = 0; thrower < threads; ++thrower) {
            for (int round = 0; round < 50; ++round) {
                std::atomic<int> left{0};
                const auto body = [&](int rank, int) {
                    if (rank == thrower) throw std::runtime_error("rank " + std::to_string(rank));
                    if (!barrier.wait()) {
                        ++left;
                        throw RegionAborted{};
                    }
                };
                try {
                    run(pool, body, &barrier);
                    FAIL() << "no exception";
                } catch (const std::runtime_error& error) {
                    EXPECT_EQ(std::string(error.what()), "rank " + std::to_string(thrower));
                }
                EXPECT_EQ(left, threads - 1);
            }
        }
        std::atomic<int> entered{0};
        run(
            pool, [&](int, int) { entered += barrier.wait() ? 1 : 0; }, &barrier);
        EXPECT_EQ(entered, threads);
    }
}

TEST(ThreadPool, OneOfManyExceptionsArrives) {
    ThreadPool pool(4);
    for (int round = 0; round < 200; ++round) {
        EXPECT_THROW(run(pool, [](int rank, int) { throw rank; }), int);
    }
}

TEST(ThreadPool, AnAbortWithoutAFaultThrowsNothing) {
    ThreadPool pool(3);
    Barrier barrier(3, pool.barrier_spin());
    std::atomic<int> past{0};
    run(
        pool,
        [&](int rank, int) {
            if (rank == 1)
                barrier.abort();
            else if (!barrier.wait())
                throw RegionAborted{};
            else
                ++past;
        },
        &barrier);
    EXPECT_EQ(past, 0);
}

TEST(ThreadPool, HostThreadsRunOneAfterAnother) {
    ThreadPool pool(2);
    std::int64_t total = 0;  // plain: regions must exclude one another
    std::atomic<int> inside{0}, crowded{0};
    std::vector<std::thread> hosts;
    for (int host = 0; host < 3; ++host) {
        hosts.emplace_back([&] {
            for (int region = 0; region < 1000; ++region) {
                run(pool, [&](int rank, int) {
                    if (rank != 0) return;
                    if (inside.fetch_add(1) != 0) ++crowded;
                    ++total;
                    --inside;
                });
            }
        });
    }
    for (std::thread& host : hosts) host.join();
    EXPECT_EQ(total, 3000);
    EXPECT_EQ(crowded, 0);
}

TEST(ThreadPool, HostThreadsOfAPoolOfOneDoNotWaitForEachOther) {
    ThreadPool pool(1);
    SpinBudget no_spin(std::chrono::nanoseconds(0), 1);
    Barrier both(2, no_spin);
    int arrived[2] = {};
    const auto host = [&](int index) { run(pool, [&, index](int, int) { arrived[index] = both.wait() ? 1 : 0; }); };
    std::thread other([&] { host(1); });
    host(0);
    other.join();
    EXPECT_EQ(arrived[0] + arrived[1], 2);
}

TEST(ThreadPool, AHostThreadMayRunAloneWhileTheOthersWork) {
    ThreadPool pool(2);
    SpinBudget no_spin(std::chrono::nanoseconds(0), 1);
    Barrier both(2, no_spin);
    int size = 0;
    std::atomic<int> arrived{0};
    std::thread other([&] {
        auto body = [&](int, int count) {
            size = count;
            arrived += both.wait() ? 1 : 0;
        };
        ThreadPool::run_alone(
            [](void* context, int rank, int count) { (*static_cast<decltype(body)*>(context))(rank, count); }, &body);
    });
    run(pool, [&](int rank, int) {
        if (rank == 0) arrived += both.wait() ? 1 : 0;
    });
    other.join();
    EXPECT_EQ(size, 1);
    EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, MoreThreadsThanCpus) {
    ThreadPool pool(16, {std::chrono::microseconds(100), 2});
    EXPECT_TRUE(pool.oversubscribed());
    EXPECT_EQ(pool.spin().count(), 0);
    Barrier barrier(16, pool.barrier_spin());
    std::atomic<int> done{0};
    run(
        pool,
        [&](int, int) {
            for (int round = 0; round < 100; ++round) {
                if (!barrier.wait()) return;
            }
            ++done;
        },
        &barrier);
    EXPECT_EQ(done, 16);
    EXPECT_FALSE(ThreadPool(1).oversubscribed());
    EXPECT_TRUE(ThreadPool(usable_cpus() + 1).oversubscribed());
}

TEST(ThreadPool, ARegionInARegionIsRefused) {
    ThreadPool pool(2);
    for (const int culprit : {0, 1}) {
        try {
            run(pool, [&](int rank, int) {
                if (rank == culprit) run(pool, [](int, int) {});
            });
            FAIL() << "no error";
        } catch (const InternalError& error) { EXPECT_THAT(error.what(), HasSubstr("inside a region")); }
    }
    ThreadPool other(2);
    std::atomic<int> entered{0};
    run(pool, [&](int rank, int) {
        if (rank == 1) run(other, [&](int, int) { ++entered; });
    });
    EXPECT_EQ(entered, 2);
}

TEST(ThreadPool, WorkersBlockSignals) {
    ThreadPool pool(2);
    sigset_t masks[2];
    run(pool, [&](int rank, int) { pthread_sigmask(SIG_SETMASK, nullptr, &masks[rank]); });
    for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD}) {
        EXPECT_EQ(sigismember(&masks[1], signal), 1);
        EXPECT_EQ(sigismember(&masks[0], signal), 0);
    }
}

#if defined(__x86_64__)
TEST(ThreadPool, EveryMemberComputesInTheDefaultMode) {
    for (const int threads : {1, 2}) {
        const unsigned host = _mm_getcsr();
        _mm_setcsr(host | 0x8040);  // subnormal operands and results to zero
        ThreadPool pool(threads);
        volatile float tiny = 1e-39F;
        float doubled[2] = {1, 1};
        run(pool, [&](int rank, int) { doubled[rank] = tiny * 2; });
        const unsigned after = _mm_getcsr();
        _mm_setcsr(host);
        for (int rank = 0; rank < threads; ++rank) EXPECT_GT(doubled[rank], 0.0F);
        EXPECT_EQ(after & 0x8040, 0x8040U);
    }
}
#endif

// ThreadSanitizer does not follow a child of a program with threads.
#if defined(__linux__) && !defined(__SANITIZE_THREAD__)
TEST(ThreadPool, AForkedChildGetsAnErrorAndExitsCleanly) {
    auto pool = std::make_unique<ThreadPool>(2);
    run(*pool, [](int, int) {});
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int code = 1;
        try {
            run(*pool, [](int, int) {});
        } catch (const Error& error) { code = error.kind() == ErrorKind::unsupported ? 0 : 2; }
        pool.reset();
        ThreadPool fresh(2);
        int entered[2] = {};
        run(fresh, [&](int rank, int) { entered[rank] = 1; });
        _exit(code + (entered[0] + entered[1] == 2 ? 0 : 4));
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    run(*pool, [](int, int) {});
}
#endif

}  // namespace
}  // namespace cairn::device
