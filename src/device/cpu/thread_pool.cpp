#include "device/cpu/thread_pool.hpp"

#include "cairn/error.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/float_mode.hpp"
#include "device/cpu/futex.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <utility>

namespace cairn::device {
namespace {

constexpr int max_threads = 4096;

// Largest pauses between full spins. A host that starts to call run() in quick succession should find the workers
// spinning after a few runs; at the end of a region there is less to gain.
constexpr std::uint32_t max_idle_spin_pause = 8, max_exit_spin_pause = 256;

int checked(int threads) {
    if (threads >= 1 && threads <= max_threads) return threads;
    throw Error(ErrorKind::argument, "threads", fmt::format("expected 1 to {} threads, got {}", max_threads, threads));
}

// Blocks all signals of this thread during its lifetime: threads created meanwhile inherit that.
class SignalsBlocked {
public:
    SignalsBlocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &saved_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t saved_;
};

}  // namespace

ThreadPool::ThreadPool(int threads, const PoolOptions& options)
    : size_(checked(threads)),
      oversubscribed_(threads > (options.cpus > 0 ? options.cpus : usable_cpus())),
      spin_(oversubscribed_ ? std::chrono::nanoseconds(0) : options.spin),
      idle_(spin_, max_idle_spin_pause),
      exit_spin_(spin_, max_exit_spin_pause),
      barrier_spin_(spin_, Barrier::max_spin_pause) {
    if (size_ > 1) start();
}

ThreadPool::~ThreadPool() {
    if (!fork_guard_.forked()) stop();
}

void ThreadPool::start() {
    workers_.resize(static_cast<std::size_t>(size_) - 1);
    const SignalsBlocked blocked;
    for (Worker& worker : workers_) {
        worker.pool = this;
        worker.rank = started_ + 1;
        if (const int error = pthread_create(&worker.thread, nullptr, &ThreadPool::enter, &worker); error != 0) {
            const int had = started_ + 1;
            stop();
            throw Error(ErrorKind::memory, "threads",
                        fmt::format("the system gave {} of {} threads: {}", had, size_, std::strerror(error)));
        }
        ++started_;
#if defined(__linux__)
        pthread_setname_np(worker.thread, "cairn");
#endif
    }
}

void ThreadPool::stop() noexcept {
    stopping_ = true;
    generation_.fetch_add(1, std::memory_order_seq_cst);
    futex_wake_all(generation_);
    for (int i = 0; i < started_; ++i) pthread_join(workers_[i].thread, nullptr);
    started_ = 0;
}

void* ThreadPool::enter(void* worker) {
    const auto* const self = static_cast<Worker*>(worker);
    self->pool->work(self->rank);
    return nullptr;
}

void ThreadPool::work(int rank) noexcept {
    const DefaultFloatMode mode;
    for (std::uint32_t seen = 0;;) {
        const auto moved = [&] { return generation_.load(std::memory_order_acquire) != seen; };
        if (!idle_.wait(moved)) {
            // As in Barrier: increments the count before checking the word, so that the caller sees either a sleeper or
            // one that need not sleep.
            sleepers_.fetch_add(1, std::memory_order_seq_cst);
            while (generation_.load(std::memory_order_seq_cst) == seen) futex_wait(generation_, seen);
            sleepers_.fetch_sub(1, std::memory_order_relaxed);
        }
        ++seen;  // exactly one: the next region waits for this worker
        if (stopping_) return;
        member(rank);
        if (pending_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
            caller_sleeps_.load(std::memory_order_seq_cst) != 0) {
            futex_wake_one(pending_);
        }
    }
}

void ThreadPool::member(int rank) noexcept {
    try {
        body_(context_, rank, size_);
    } catch (const RegionAborted&) {
    } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
        if (barrier_ != nullptr) barrier_->abort();
    }
}

void ThreadPool::wait_for_members() noexcept {
    const auto done = [&] { return pending_.load(std::memory_order_acquire) == 0; };
    if (exit_spin_.wait(done)) return;
    caller_sleeps_.store(1, std::memory_order_seq_cst);
    for (std::uint32_t left; (left = pending_.load(std::memory_order_seq_cst)) != 0;) futex_wait(pending_, left);
    caller_sleeps_.store(0, std::memory_order_relaxed);
}

void ThreadPool::run_alone(Body body, void* context, Barrier* barrier) {
    if (barrier != nullptr) barrier->reset();
    const DefaultFloatMode mode;
    try {
        body(context, 0, 1);
    } catch (const RegionAborted&) {}
}

void ThreadPool::run(Body body, void* context, Barrier* barrier) {
    if (size_ == 1) return run_alone(body, context, barrier);
    if (fork_guard_.forked()) {
        throw Error(ErrorKind::unsupported, "threads",
                    "the thread pool was made before fork() and has no threads in the child; make a new Context there");
    }
    acquire();
    if (barrier != nullptr) barrier->reset();
    body_ = body;
    context_ = context;
    barrier_ = barrier;
    failed_.store(false, std::memory_order_relaxed);
    pending_.store(static_cast<std::uint32_t>(size_) - 1, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake_all(generation_);
    {
        const DefaultFloatMode mode;
        member(0);
    }
    wait_for_members();
    const std::exception_ptr error = std::exchange(error_, nullptr);
    release();
    if (error) std::rethrow_exception(error);
}

// A futex lock with three states: uncontended, it takes one exchange each to acquire and to release.
void ThreadPool::acquire() {
    std::uint32_t free = 0;
    if (!lock_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) {
        if (inside()) throw InternalError("threads", "run() was called inside a region of the same thread pool");
        while (lock_.exchange(2, std::memory_order_acquire) != 0) futex_wait(lock_, 2);
    }
    caller_.store(pthread_self(), std::memory_order_relaxed);
}

void ThreadPool::release() noexcept {
    caller_.store(pthread_t{}, std::memory_order_relaxed);
    if (lock_.exchange(0, std::memory_order_release) == 2) futex_wake_one(lock_);
}

// True if the calling thread runs in a region of this pool.
bool ThreadPool::inside() const noexcept {
    const pthread_t self = pthread_self();
    if (pthread_equal(caller_.load(std::memory_order_relaxed), self) != 0) return true;
    for (const Worker& worker : workers_) {
        if (pthread_equal(worker.thread, self) != 0) return true;
    }
    return false;
}

}  // namespace cairn::device
