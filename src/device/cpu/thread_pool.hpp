#pragma once

#include "device/backend.hpp"
#include "device/cpu/barrier.hpp"
#include "device/fork_guard.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <vector>

namespace cairn::device {

struct PoolOptions {
    /// How long an idle member spins before it sleeps; less if spinning turns out to be useless.
    std::chrono::nanoseconds spin = std::chrono::microseconds(100);
    /// Number of CPUs to assume; 0: usable_cpus(). With more threads than CPUs nobody spins, since a spinning thread
    /// takes the CPU from a working one.
    int cpus = 0;
};

/// A fixed team of threads: `threads - 1` of its own and the one that calls run(). Its threads are idle between
/// regions; they sleep about 100 us after the last one at the latest.
///
///     ThreadPool pool(2);
///     pool.run([](void* x, int rank, int size) { static_cast<Work*>(x)->part(rank, size); }, &work);
///
/// * The steady path has no lock, no allocation, and no system call unless a thread sleeps.
/// * A second host thread that calls run() sleeps until the first has finished. A pool of one thread has nothing to
///   share: any number of host threads run side by side in it, each on its own.
/// * Every member computes in the default floating-point mode, whatever the caller's is, so that results do not depend
///   on which thread computes what; the caller's mode is restored.
/// * Its threads block all signals: handlers of the host run on threads of the host.
/// * After fork() the child has none of the threads: run() throws there, and destroying the pool does nothing. Create a
///   new pool in the child.
class ThreadPool final : public HostThreads {
public:
    /// Throws Error(argument) unless 1 <= threads <= 4096, Error(memory) when the system grants no more threads.
    explicit ThreadPool(int threads, const PoolOptions& options = {});
    /// Joins its threads. No region may be running.
    ~ThreadPool() override;
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const noexcept override { return size_; }
    /// True if there are more threads than CPUs.
    bool oversubscribed() const noexcept { return oversubscribed_; }
    /// How long barriers in regions of this pool should spin; zero when oversubscribed.
    std::chrono::nanoseconds spin() const noexcept { return spin_; }

    /// The spin budget of barriers in its regions. It lives as long as the pool, so that a barrier of a new region need
    /// not learn again that a CPU is taken.
    SpinBudget& barrier_spin() noexcept { return barrier_spin_; }

    /// Runs one parallel region: every member calls `body(context, rank, size())`, the caller as rank 0. Returns when
    /// all have left.
    ///
    /// The first exception of a member is rethrown here after all have left; `barrier`, if given, is reset at the start
    /// and aborted when a member throws, so that the others leave too. A member leaves an aborted region by throwing
    /// RegionAborted; if nobody threw anything else, run() returns normally. Calling run() inside a region of the same
    /// pool throws InternalError.
    void run(Body body, void* context, Barrier* barrier);
    void run(Body body, void* context) override { run(body, context, nullptr); }

    /// Runs a region on the calling thread alone, as rank 0 of 1, whatever size() is: no thread wakes, and any number
    /// of host threads may do so at the same time.
    static void run_alone(Body body, void* context, Barrier* barrier = nullptr);

private:
    struct Worker {
        ThreadPool* pool = nullptr;
        int rank = 0;
        pthread_t thread{};
    };

    static void* enter(void* worker);
    void start();
    void stop() noexcept;
    void work(int rank) noexcept;
    void member(int rank) noexcept;
    void wait_for_members() noexcept;
    void acquire();
    void release() noexcept;
    bool inside() const noexcept;

    const int size_;
    const bool oversubscribed_;
    const std::chrono::nanoseconds spin_;
    SpinBudget idle_, exit_spin_;  // of workers between regions, and of the caller at the end of a region
    SpinBudget barrier_spin_;
    ForkGuard fork_guard_;
    std::vector<Worker> workers_;
    int started_ = 0;

    // The region; written by the caller before generation_ changes, by members only through the atomics.
    Body body_ = nullptr;
    void* context_ = nullptr;
    Barrier* barrier_ = nullptr;
    bool stopping_ = false;
    std::exception_ptr error_;
    std::atomic<bool> failed_{false};

    alignas(64) std::atomic<std::uint32_t> generation_{0};  // counts regions; workers wait for it to change
    std::atomic<std::uint32_t> sleepers_{0};
    alignas(64) std::atomic<std::uint32_t> pending_{0};  // workers still inside the region
    std::atomic<std::uint32_t> caller_sleeps_{0};
    alignas(64) std::atomic<std::uint32_t> lock_{0};  // 0: free, 1: taken, 2: taken, others may wait
    std::atomic<pthread_t> caller_{};
};

}  // namespace cairn::device
