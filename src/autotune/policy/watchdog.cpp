#include "autotune/policy/watchdog.hpp"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace cairn::autotune {
namespace {

/// Blocks all signals of this thread during its lifetime: threads created meanwhile inherit that. Handlers of the host
/// then run on threads of the host.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_;
};

}  // namespace

Watchdog::Watchdog(double seconds)
    : limit_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
    const SignalsBlocked blocked;
    thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void Watchdog::begin(std::function<void()> late, std::size_t parts) {
    const std::scoped_lock lock(mutex_);
    late_ = std::move(late);
    deadline_ = Clock::now() + limit_ * static_cast<Clock::rep>(parts);
}

void Watchdog::end() {
    const std::scoped_lock lock(mutex_);
    late_ = nullptr;
}

void Watchdog::watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    // Polls instead of being woken: begin() and end() are called next to timed code.
    while (!stop.stop_requested()) {
        wake_.wait_for(lock, stop, limit_ / 4, [] { return false; });
        if (late_ == nullptr || Clock::now() < deadline_) continue;
        try {
            std::exchange(late_, nullptr)();
        } catch (...) {}  // exceptions of the host's log callback are dropped
    }
}

}  // namespace cairn::autotune
