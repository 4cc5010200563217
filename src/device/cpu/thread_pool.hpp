#pragma once

#include "device/cpu/barrier.hpp"
#include "device/cpu/fork_guard.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <vector>

namespace cairn::device {

struct PoolOptions {
    /// How long a member that has nothing to do stays awake before it sleeps; less where that turns out to be in vain.
    std::chrono::nanoseconds spin = std::chrono::microseconds(100);
    /// CPUs to count with; 0: usable_cpus(). With more threads than these nobody spins, since who spins takes the CPU
    /// from who works.
    int cpus = 0;
};

/// A fixed team of threads: `threads - 1` of its own and the one that calls run(). Nothing runs and nothing wakes while
/// no region runs; its threads sleep at most about 100 us after the last one.
///
///     ThreadPool pool(2);
///     pool.run([](void* x, int rank, int size) { static_cast<Work*>(x)->part(rank, size); }, &work);
///
/// * The steady path has no lock, no allocation, and no system call unless someone sleeps.
/// * A second host thread that calls run() sleeps until the first has finished. A pool of one thread has nothing to
/// share: there any
///   number of host threads run side by side, each on its own.
/// * Every member computes in the default floating-point mode, whatever the caller's is, so that results do not depend
/// on who does
///   what; the caller's mode is restored.
/// * Its threads block all signals: handlers of the host run on threads of the host.
/// * After fork() the child has none of the threads: there run() throws, and destroying the pool does nothing. Make a
/// new one.
class ThreadPool {
public:
    using Body = void (*)(void* context, int rank, int size);

    /// Throws Error(argument) unless 1 <= threads <= 4096, Error(memory) when the system grants no more threads.
    explicit ThreadPool(int threads, const PoolOptions& options = {});
    /// Joins its threads. No region may be running.
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const noexcept { return size_; }
    /// More threads than CPUs.
    bool oversubscribed() const noexcept { return oversubscribed_; }
    /// How long barriers of this pool's regions should spin; zero when oversubscribed.
    std::chrono::nanoseconds spin() const noexcept { return spin_; }

    /// One parallel region: every member calls `body(context, rank, size())`, the caller as rank 0. Returns when all
    /// have left.
    ///
    /// What a member throws first is thrown here again after all have left; `barrier`, if given, is reset at the start
    /// and aborted when a member throws, so that the others leave too. A member leaves an aborted region by throwing
    /// RegionAborted; if nobody threw anything else, run() returns normally. Calling run() inside a region of the same
    /// pool throws InternalError.
    void run(Body body, void* context, Barrier* barrier = nullptr);

    /// The same with the calling thread alone, as rank 0 of 1, whatever size() is: no thread wakes, and any number of
    /// host threads may do so at once.
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
    SpinBudget idle_, leaving_;  // of workers between regions, and of the caller at a region's end
    ForkGuard fork_guard_;
    std::vector<Worker> workers_;
    int started_ = 0;

    // The region; written by the caller before generation_ moves, by members only through the atomics.
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
    alignas(64) std::atomic<std::uint32_t> owner_{0};  // 0 free, 1 taken, 2 taken and perhaps waited for
    std::atomic<pthread_t> caller_{};
};

}  // namespace cairn::device
